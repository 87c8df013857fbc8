"""Figure 11: equal weights per neuron keep the best learning rate in place."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, more_than, within
from reproductions.supar.models.claims import NEARLY_STATED, OURS
from reproductions.supar.sweeps import quantities as q
from reproductions.supar.sweeps import table
from reproductions.supar.sweeps.experiment import iso_neuron, lr_sweep

task = Task(
    "supar/fig11",
    reads=(iso_neuron, lr_sweep),
    table=table.LADDERS,
    claims=claims(
        "Figure 11 and section 4.2",
        (
            "sp_stays",
            OURS,
            within(partial(q.apart_on, ladder="iso_neuron"), -1, 1, "octaves").naming(*q.PAIRS),
            "At equal weights per neuron, no two of SP's optimal learning rates are more than one"
            " factor-2 step apart.",
        ),
        (
            "less_than_at_fixed_width",
            OURS,
            more_than(q.rises_beyond, 0, "octaves").naming("beyond its rise", "beyond its fall"),
            "From the densest to the sparsest net, SP's optimal learning rate rises farther at"
            " equal width than it moves either way at equal weights per neuron.",
        ),
    )
    + claims(
        "section 4.2",
        (
            "between_2_to_minus_7_and_minus_6",
            NEARLY_STATED,
            within(partial(q.optima_on, ladder="iso_neuron"), -7.5, -5.5, "log2 learning rate"),
            "At equal weights per neuron, SP's optima lie between 2^-7 and 2^-6, to half a factor-2"
            " step.",
        ),
    ),
    figure=".models.sweep_figures:two_ladder_panels",
    caption="Train loss (mean of the last tenth of the steps) of SP against the learning rate, one"
    " line per net. Left: width times density is constant. Right: the same densities at one width"
    " (Figure 6), where SP starts from half the standard deviation. Mean over seeds, bars show its"
    " standard error. A ring marks the least mean loss of each line, unless it lies at the line's"
    " end; the vertical line is that of the dense net. Steep ends are cut off. The paper's curves"
    " are not published as numbers.",
    alt="Two panels of SP's train loss against log2 learning rate, one line per density, for nets"
    " of equal weights per neuron and for nets of equal width.",
)
