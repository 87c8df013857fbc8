"""Figure 11: equal weights per neuron keep the best learning rate in place."""

from functools import partial

from harness.declare import Task, at_most, claims, within
from reproductions.supar.models.claims import (
    CURVES,
    NEARLY_STATED,
    NOT_PUBLISHED,
    TRAINED,
    UNIGRAM,
)
from reproductions.supar.models.optima import dense_losses_over, within_rows
from reproductions.supar.sweeps import quantities as q
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import iso_neuron, lr_sweep

LADDER = TRAINED.controlled(
    "at its best, the narrowest net of equal weights per neuron has at most the loss of a unigram"
    " model",
    at_most(
        partial(
            within_rows, column="ladder", value="iso_neuron",
            quantity=partial(dense_losses_over, known=UNIGRAM),
        ),
        0,
        "nats",
    ).measuring("loss over it"),
)  # fmt: skip

task = Task(
    "supar/fig11",
    reads=(iso_neuron, lr_sweep),
    table=table.LADDERS,
    claims=claims(
        "Figure 11 and section 4.2",
        (
            "sp_stays",
            LADDER,
            within(partial(q.apart_on, ladder="iso_neuron"), -1, 1, "octaves")
            .naming(*q.PAIRS)
            .measuring("optimum of the sparser net less that of the denser one"),
            "SP's optimal learning rate stays where it is at equal weights per neuron.",
        ),
    )
    + claims(
        "section 4.2",
        (
            "sp_in_stated_range",
            NEARLY_STATED,
            within(partial(q.optima_on, ladder="iso_neuron"), -7.5, -5.5, "log2 learning rate"),
            "At equal weights per neuron SP's optimal learning rates lie between 2^-7 and 2^-6.",
        ),
    ),
    figure=".models.sweep_figures:two_ladder_panels",
    caption="SP's train loss against the learning rate, one line per net. Left: width times"
    " density is constant. Right: the same densities at one width (Figure 6), where SP starts from"
    f" a smaller standard deviation. {CURVES} {NOT_PUBLISHED}",
    alt="Two panels of SP's train loss against log2 learning rate, one line per density, for nets"
    " of equal weights per neuron and for nets of equal width.",
)
