"""Table 7: three seeds of the layers."""

from __future__ import annotations

from functools import partial

from harness.declare import Layout, Line, Table, Task, at_least, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import DOTS, MT_BENCH, ON, stand_in
from reproductions.lisa.finetuning.experiment import FIXED_LR, runs
from reproductions.lisa.models.claims import IN_HOUSE
from reproductions.lisa.models.layouts import HEADS, HELD_OUT, MODELS
from reproductions.lisa.models.names import NO_BLOCKS, QUALITY

LAYOUT = Layout(
    rows=(Line(HEADS["lisa"], group=MODELS[QUALITY], where={"method": "lisa"}),),
    columns=table.LAYER_SEEDS,
    cell=table.LOSS,
    ours=True,
)
BESIDE = Layout(
    rows=tuple(
        Line(HEADS[method], group=MODELS[QUALITY], where={"method": method})
        for method in ("lora", NO_BLOCKS)
    ),
    columns=(Line(HELD_OUT),),
    cell=table.LOSS,
    title="Beside it, what draws no layers",
    notes=("These rows are not the paper's.",),
)
task = Task(
    "lisa/tab07",
    reads=(runs,),
    table=Table(table.FINAL, table.layer_seed_rows),
    layout=(LAYOUT, BESIDE),
    claims=claims(
        stand_in("Table 7"),
        (
            "seed_spread_below_gain",
            IN_HOUSE,
            at_least(partial(q.gap_minus_spread, chosen=q.LISA, other=q.CONTROL), 0, "nats"),
            "The held-out losses of LISA on LLaMA-2-7B range over less, from seed to seed of the"
            " layers, than they lie below that of embeddings, head and final norm alone.",
        ),
    ),
    figure="figures:ends_by_period",
    caption=f"Held-out loss of LISA with two blocks and K = 13 at the learning rate {FIXED_LR:g},"
    " over three seeds of the layers, and at their best rates of LoRA and of LISA without blocks."
    f" {ON} {DOTS} {MT_BENCH}",
    alt="Held-out loss of single runs of LoRA, of LISA and of LISA without blocks over seeds.",
)
