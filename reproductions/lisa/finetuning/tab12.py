"""Table 12: layers drawn anew against layers drawn once."""

from __future__ import annotations

from harness.declare import Layout, Line, Task, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import GAMMA, NUM_STEPS, PERIOD, PERIODS, runs
from reproductions.lisa.models.names import NAMES

ANEW: q.Chosen = {**q.TWO, "period": PERIOD}
LAYOUT = Layout(
    rows=tuple(
        Line(head, group=NAMES["llama-2-7b"], where={"period": period})
        for period, head in (
            (PERIOD, "LISA"),
            (NUM_STEPS, "LISA-fix"),
        )
    ),
    columns=table.LAYER_SEEDS,
    cell=table.LOSS,
    notes=(f"LISA has K = {PERIOD}; LISA-fix draws once.",),
    ours=True,
)
BESIDE = Layout(
    rows=tuple(
        Line(f"LISA, K = {period}", group=NAMES["llama-2-7b"], where={"period": period})
        for period in PERIODS
        if period != NUM_STEPS
    ),
    columns=table.LAYER_SEEDS[:1],
    cell=table.LOSS,
    title="Other periods, with the first seed of the layers alone",
    notes=("These rows are not the paper's.",),
)
task = Task(
    "lisa/tab12",
    reads=(runs,),
    table=table.ends(table.ablated(GAMMA)),
    layout=(LAYOUT, BESIDE),
    claims=claims(
        "Table 12",
        (
            "drawing_anew_is_no_worse",
            q.TRAINED,
            q.no_higher(ANEW, q.ONE_DRAW, "loss of LISA less that of layers drawn once"),
            "Drawing the layers anew does at least as well as keeping the first draw.",
        ),
    ),
    figure="figures:ends_by_period",
    caption=f"Held-out loss of LISA with two blocks by period; K = 122 draws once. {q.ONE_RATE}"
    f" {q.DOTS} {q.MT_BENCH}",
    alt="Held-out loss of single runs with layers drawn every few steps, or once.",
)
