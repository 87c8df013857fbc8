"""Table 7: three seeds of the layers."""

from __future__ import annotations

from functools import partial

from harness.declare import Layout, Line, Task, at_least, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import FIXED_LR, SEEDS, runs
from reproductions.lisa.models.layouts import HEADS, HELD_OUT
from reproductions.lisa.models.names import NAMES, NO_BLOCKS

LAYOUT = Layout(
    rows=(Line(HEADS["lisa"], group=NAMES["llama-2-7b"], where={"method": "lisa"}),),
    columns=table.LAYER_SEEDS,
    cell=table.LOSS,
    ours=True,
)
BESIDE = Layout(
    rows=tuple(
        Line(HEADS[method], group=NAMES["llama-2-7b"], where={"method": method})
        for method in ("lora", NO_BLOCKS)
    ),
    columns=(Line(HELD_OUT),),
    cell=table.LOSS,
    title="Methods that draw no layers",
    notes=("These rows are not the paper's.",),
)
task = Task(
    "lisa/tab07",
    reads=(runs,),
    table=table.ends(
        table.Shown(methods=("lora", NO_BLOCKS)),
        table.Shown(methods=("lisa",), layer_seeds=SEEDS, rates="fixed"),
    ),
    layout=(LAYOUT, BESIDE),
    claims=claims(
        "Table 7",
        (
            "seed_spread_below_gain",
            q.TRAINED,
            at_least(
                partial(q.gap_minus_spread, chosen=q.LISA, other=q.CONTROL), 0, "nats"
            ).measuring("gain less the range over seeds"),
            "Another seed of the layers changes the loss by less than the sampled blocks gain.",
        ),
    ),
    figure="figures:ends_by_period",
    caption=f"Held-out loss of LISA with two blocks and K = 13 at the learning rate {FIXED_LR:g},"
    " over three seeds of the layers; LoRA and LISA without blocks at their best rates."
    f" {q.DOTS} {q.MT_BENCH}",
    alt="Held-out loss of single runs of LoRA, of LISA and of LISA without blocks over seeds.",
)
