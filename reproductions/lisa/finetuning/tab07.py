"""Table 7: three seeds of the layers."""

from __future__ import annotations

from functools import partial

from harness.declare import Layout, Line, Table, Task, at_least, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import DOTS, IN_HOUSE, MT_BENCH, ON, stand_in
from reproductions.lisa.finetuning.experiment import FIXED_LR, runs
from reproductions.lisa.models.layouts import HEADS, MODELS
from reproductions.lisa.models.names import QUALITY

LAYOUT = Layout(
    rows=tuple(
        Line(HEADS[method], group=MODELS[QUALITY], where={"method": method})
        for method in ("lisa", "lora")
    ),
    columns=table.LAYER_SEEDS,
    cell=table.LOSS,
    notes=("LoRA's row is not the paper's; it draws no layers, and has one value.",),
    ours=True,
)
task = Task(
    "lisa/tab07",
    reads=(runs,),
    table=Table(table.FINAL, table.layer_seed_rows),
    layout=LAYOUT,
    claims=claims(
        stand_in("Table 7"),
        (
            "seed_spread_below_gap",
            IN_HOUSE,
            at_least(partial(q.gap_minus_spread, chosen=q.LISA, other=q.LORA), 0, "nats"),
            "LISA's held-out losses range over less, from seed to seed of the layers, than LISA"
            " lies below LoRA (gap minus range).",
        ),
    ),
    figure="figures:ends_by_period",
    caption=f"Held-out loss of LISA with two blocks and K = 13 at the learning rate {FIXED_LR:g},"
    f" over three seeds of the layers, and of LoRA at its best rate. {ON} {DOTS} {MT_BENCH}",
    alt="Held-out loss of single runs of LoRA and of LISA over seeds.",
)
