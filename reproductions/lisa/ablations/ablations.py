"""LISA's own settings on the in-house model, beside Tables 6, 10 and 12 and Figures 8 and 9."""

from __future__ import annotations

from functools import partial

from harness.declare import CPU, Cell, Layout, Line, Task, at_least, at_most, claims, ours, within
from reproductions.lisa.ablations import quantities as q
from reproductions.lisa.ablations import table
from reproductions.lisa.ablations.experiment import settings

LEAST_FALL = 0.5
"""Nats by which full training must lower the held-out loss."""
ALIKE = 0.02
"""Nats within which two losses are alike, as in Figure 9."""
TRAINED = ours("DEV-04", profiles=CPU, elsewhere="smoke takes too few steps").controlled(
    f"full training lowers the held-out loss by {LEAST_FALL:g} nats",
    at_least(partial(q.fall, name="full"), LEAST_FALL, "nats"),
)
task = Task(
    "lisa/ablations",
    reads=(settings,),
    table=table.ENDS,
    layout=Layout(
        rows=table.LINES,
        columns=(
            Line("held-out", cell=table.LOSS),
            Line("training", cell=Cell("train_loss", unit="nats", digits=3)),
            Line("rate", cell=Cell("lr", digits=4, seeded=False)),
        ),
        cell=table.LOSS,
        title="Loss after fine-tuning",
        notes=("Every setting has the rate that pilots chose for it.",),
        ours=True,
    ),
    claims=claims(
        "Table 10",
        (
            "blocks_help",
            TRAINED,
            at_most(partial(q.difference, one="usual", other="blocks_0"), 0, "nats").measuring(
                "loss with two blocks less that with none"
            ),
            "LISA with two sampled blocks does at least as well as with embeddings and head alone.",
        ),
    )
    + claims(
        "Table 6 and Figure 8",
        (
            "more_blocks_are_better",
            TRAINED,
            at_most(partial(q.difference, one="blocks_4", other="usual"), 0, "nats").measuring(
                "loss with four blocks less that with two"
            ),
            "More blocks are better: four do at least as well as two.",
        ),
    )
    + claims(
        "Tables 6 and 12",
        (
            "one_draw_is_worst",
            TRAINED,
            at_least(partial(q.later_draws, names=("every_25", "usual", "every_5")), 0, "nats")
            .naming("beside K = 25", "beside K = 13", "beside K = 5")
            .measuring("loss of one draw less that of later draws"),
            "Drawing the blocks once is worst: K = 25, 13 and 5 do at least as well.",
        ),
    )
    + claims(
        "Figure 9",
        (
            "periods_13_and_25_alike",
            TRAINED,
            within(
                partial(q.difference, one="usual", other="every_25", value="train_loss"),
                -ALIKE,
                ALIKE,
                "nats",
            ).measuring("loss with K = 13 less that with K = 25"),
            "With K = 13 and K = 25 the training loss ends alike.",
        ),
    )
    + claims(
        "ours, beside Algorithm 1, which does not say what becomes of the optimizer's states",
        (
            "dropping_states_costs_nothing",
            TRAINED.asked_by_us(),
            at_most(partial(q.difference, one="usual", other="keep_all"), ALIKE, "nats").measuring(
                "loss with states dropped less that with states kept"
            ),
            "Dropping the states of blocks that are frozen again ends no higher than keeping them.",
        ),
        (
            "resetting_all_is_no_better",
            TRAINED.asked_by_us(),
            at_least(partial(q.difference, one="reset_all", other="usual"), 0, "nats").measuring(
                "loss with all states dropped less that with those of frozen blocks"
            ),
            "Dropping all states, those of embeddings and head too, does no better than dropping"
            " those of frozen blocks.",
        ),
    ),
    figure="figures:ends",
    caption="Held-out loss of the in-house model after fine-tuning by LISA, one setting varied at a"
    " time, each at the rate of its least validation loss in pilots. Dots: runs, one per seed;"
    " lines: their mean.",
    alt="Held-out loss of single runs by number of blocks, sampling period and policy for states.",
)
