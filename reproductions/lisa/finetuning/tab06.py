"""Table 6: number of blocks and sampling period, at one learning rate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import Layout, Line, Task, at_least, at_most, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import DOTS, IN_HOUSE, MT_BENCH, ONE_RATE, stand_in
from reproductions.lisa.finetuning.experiment import GAMMA, NUM_STEPS, PERIOD, runs
from reproductions.lisa.models.layouts import MODELS, OWN
from reproductions.lisa.models.names import QUALITY


def two(period: int) -> q.Chosen:
    """Return what chooses two blocks at a period."""
    return {**q.TWO, "period": period}


def eight(period: int) -> q.Chosen:
    """Return what chooses eight blocks at a period."""
    return {**q.EIGHT, "period": period}


OTHERS = [eight(1), eight(5), two(5), two(25)]
"""The paper's settings beside the one that draws once."""
test_loss = partial(q.difference, value="test_loss")
PRINTED = ((8, 1), (8, 5), (GAMMA, 5), (GAMMA, 25), (GAMMA, NUM_STEPS))
NOT_PRINTED = ((8, PERIOD), (GAMMA, 1), (GAMMA, PERIOD))
LAYOUT = Layout(
    rows=tuple(
        Line(
            f"K = {period}",
            group=f"gamma = {gamma}",
            where={"gamma": gamma, "period": period},
            paper={"series": f"gamma={gamma}", "x": str(period)},
        )
        for gamma, period in (*PRINTED, *NOT_PRINTED)
    ),
    columns=(
        *(
            Line(
                MODELS[model],
                group="MT-Bench",
                where={"model": model},
                cell=replace(table.LOSS, unit="points", digits=2),
                paper={"series": model},
            )
            for model in ("tinyllama", "llama-2-7b")
        ),
        Line(OWN, group="held-out loss", where={"model": QUALITY}),
    ),
    cell=table.LOSS,
    where={"layer_seed": 0},
    notes=(
        "Ours has held-out losses of another model: they are no scores of MT-Bench, and low is"
        " good.",
        "Blocks are drawn with the first seed of the layers.",
        f"The last {len(NOT_PRINTED)} rows are not the paper's.",
        "K is in steps; the early version calls it a frequency.",
    ),
)
task = Task(
    "lisa/tab06",
    reads=(runs,),
    table=table.ends_at_one_rate(gammas=(GAMMA, 8)),
    layout=LAYOUT,
    claims=claims(
        stand_in("Table 6"),
        (
            "more_blocks_are_better",
            IN_HOUSE,
            at_most(partial(test_loss, one=eight(5), other=two(5)), 0, "nats"),
            "At K = 5 the held-out loss with eight blocks, all of ours, is at most that with two.",
        ),
        (
            "one_draw_is_worst",
            IN_HOUSE,
            at_least(partial(q.least_lead, worst=q.ONE_DRAW, others=OTHERS), 0, "nats"),
            "Among the paper's five settings the one that draws its two blocks once, over three"
            " seeds of the layers, has the highest held-out loss (lead over the next).",
        ),
    )
    + claims(
        stand_in("Figure 9"),
        (
            "periods_13_and_25_alike",
            IN_HOUSE,
            at_most(
                partial(q.distance_in_spreads, one=two(PERIOD), other=two(25)), 2, "deviations"
            ),
            "The held-out losses of K = 13 and K = 25 differ by at most twice the standard"
            " deviation over seeds of the layers.",
        ),
        (
            "period_13_no_worse_than_one_draw",
            IN_HOUSE,
            at_most(partial(test_loss, one=two(PERIOD), other=q.ONE_DRAW), 0, "nats"),
            "With K = 13 the held-out loss is at most that with blocks drawn once.",
        ),
    ),
    figure="figures:ends_by_period",
    caption=f"Held-out loss of LISA by numbers of blocks and period. {ONE_RATE} {DOTS} {MT_BENCH}",
    alt="Held-out loss of single runs for several numbers of blocks and sampling periods.",
)
