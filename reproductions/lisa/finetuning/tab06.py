"""Table 6: number of blocks and sampling period, at one learning rate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import PAPER, Layout, Line, Task, at_least, at_most, claims, within
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import (
    DOTS,
    MT_BENCH,
    ONE_RATE,
    stand_in,
)
from reproductions.lisa.finetuning.experiment import GAMMA, NUM_STEPS, PERIOD, runs
from reproductions.lisa.models.claims import IN_HOUSE
from reproductions.lisa.models.layouts import ALL_BLOCKS, MODELS, OWN
from reproductions.lisa.models.names import QUALITY


def two(period: int) -> q.Chosen:
    """Return what chooses two blocks at a period."""
    return {**q.TWO, "period": period}


def eight(period: int) -> q.Chosen:
    """Return what chooses eight blocks at a period."""
    return {**q.EIGHT, "period": period}


test_loss = partial(q.difference, value="test_loss")
train_loss = partial(q.difference, value="train_loss")
FIRST = {"layer_seed": 0}
ON_MORE_BLOCKS = IN_HOUSE.at(
    *PAPER,
    elsewhere="eight blocks are all that the in-house model has: gamma = 8 is full training there,"
    " whose best rate is another one",
)
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
        ALL_BLOCKS,
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
            ON_MORE_BLOCKS,
            at_most(partial(test_loss, one=eight(5), other=two(5)), 0, "nats").measuring(
                "loss with eight blocks less that with two"
            ),
            "At K = 5 the held-out loss with eight blocks is at most that with two.",
        ),
        (
            "one_draw_is_worst",
            IN_HOUSE,
            at_least(partial(test_loss, one=q.ONE_DRAW, other=two(25)), 0, "nats").measuring(
                "loss of one draw less that with K = 25"
            ),
            "With two blocks of LLaMA-2-7B drawn once, the held-out loss over three seeds of the"
            " layers is at least that with K = 25, the paper's next in order.",
        ),
        (
            "one_draw_worse_than_period_5",
            IN_HOUSE,
            at_least(partial(test_loss, one=q.ONE_DRAW, other=two(5)), 0, "nats").measuring(
                "loss of one draw less that with K = 5"
            ),
            "With two blocks of LLaMA-2-7B drawn once, the held-out loss over three seeds of the"
            " layers is at least that with K = 5.",
        ),
    )
    + claims(
        stand_in("Figure 9"),
        (
            "periods_13_and_25_alike",
            IN_HOUSE,
            within(
                partial(train_loss, one={**two(PERIOD), **FIRST}, other={**two(25), **FIRST}),
                -0.02,
                0.02,
                "nats",
            ).measuring("loss with K = 13 less that with K = 25"),
            "The final smoothed training losses of LLaMA-2-7B with K = 13 and with K = 25 differ by"
            " at most 0.02, blocks drawn with one seed of the layers.",
        ),
        (
            "period_13_no_worse_than_one_draw",
            IN_HOUSE,
            at_most(partial(train_loss, one=two(PERIOD), other=q.ONE_DRAW), 0, "nats").measuring(
                "loss with K = 13 less that of one draw"
            ),
            "With K = 13 the final smoothed training loss of LLaMA-2-7B is at most that with blocks"
            " drawn once, over three seeds of the layers.",
        ),
    ),
    figure="figures:ends_by_period",
    caption=f"Held-out loss of LISA by numbers of blocks and period. {ONE_RATE} {DOTS} {MT_BENCH}",
    alt="Held-out loss of single runs for several numbers of blocks and sampling periods.",
)
