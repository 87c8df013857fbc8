"""Table 6: number of blocks and sampling period, at one learning rate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import PAPER, Layout, Line, Task, at_least, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import GAMMA, NUM_STEPS, PERIOD, runs
from reproductions.lisa.models.layouts import ALL_BLOCKS
from reproductions.lisa.models.names import NAMES, QUALITY

ON_MORE_BLOCKS = q.TRAINED.at(
    *PAPER, elsewhere="gamma = 8 would be full training of so small a model"
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
                NAMES[model],
                group="MT-Bench",
                where={"model": model},
                cell=replace(table.LOSS, unit="points", digits=2),
                paper={"series": model},
            )
            for model in ("tinyllama", "llama-2-7b")
        ),
        Line(NAMES[QUALITY], group="held-out loss", where={"model": QUALITY}),
    ),
    cell=table.LOSS,
    where={"layer_seed": 0},
    notes=(
        "Ours are held-out losses, for which lower is better, and no scores of MT-Bench.",
        ALL_BLOCKS,
        "Blocks are drawn with the first seed of the layers.",
        f"The last {len(NOT_PRINTED)} rows are not the paper's.",
        "K is in steps; the early version calls it a frequency.",
    ),
)
task = Task(
    "lisa/tab06",
    reads=(runs,),
    table=table.ends(table.ablated(GAMMA, 8)),
    layout=LAYOUT,
    claims=claims(
        "Table 6",
        (
            "more_blocks_are_better",
            ON_MORE_BLOCKS,
            q.no_higher(
                {**q.EIGHT, "period": 5},
                {**q.TWO, "period": 5},
                "loss with eight blocks less that with two",
            ),
            "More blocks are better: at K = 5, gamma = 8 does at least as well as gamma = 2.",
        ),
        (
            "one_draw_is_worst",
            q.TRAINED,
            at_least(partial(q.later_draws, periods=(25, 5)), 0, "nats")
            .naming("beside K = 25", "beside K = 5")
            .measuring("loss of one draw less that of later draws"),
            "Drawing the blocks once is worst: K = 25 and K = 5 do at least as well.",
        ),
    )
    + claims(
        "Figure 9",
        (
            "training_prefers_period_13",
            q.TRAINED,
            q.no_higher(
                {**q.TWO, "period": PERIOD},
                q.ONE_DRAW,
                "loss with K = 13 less that of one draw",
                value="train_loss",
            ),
            "With K = 13 the training loss ends no higher than with blocks drawn once.",
        ),
    ),
    figure="figures:ends_by_period",
    caption=f"Held-out loss of LISA by numbers of blocks and period. {q.ONE_RATE} {q.DOTS}"
    f" {q.MT_BENCH}",
    alt="Held-out loss of single runs for several numbers of blocks and sampling periods.",
)
