"""Figure 27: sign-consistent noise moves the input of a ReLU unit, before and after the ReLU."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, equal, more_than
from reproductions.asymvalley.models.scopes import TOY_CHECK
from reproductions.asymvalley.toys import quantities as q
from reproductions.asymvalley.toys import table
from reproductions.asymvalley.toys.experiment import units

task = Task(
    "asymvalley/fig27",
    reads=(units,),
    table=table.UNITS,
    claims=claims(
        "Figure 27 and appendix D.2",
        (
            "mean_as_computed",
            TOY_CHECK,
            equal(q.mean_error, 0, "standard errors", tolerance=5.0),
            "The mean pre-activation is sum_i h_i (a h_i + l (2 Phi(a h_i) - 1)) at every l"
            " to within 5 standard errors of the sampled mean.",
        ),
        (
            "mean_rises",
            TOY_CHECK,
            more_than(q.smallest_mean_step, 0, "pre-activation"),
            "In every sample the mean pre-activation rises with l, from -1 to 1, as its closed form"
            " does.",
        ),
        *(
            (
                name,
                TOY_CHECK,
                more_than(partial(q.smallest_active_gain, size=size), 0, "share of draws"),
                f"In every sample the unit is active more often at l = +{size:g} than at"
                f" l = -{size:g}, as the normal distribution has it.",
            )
            for name, size in (("active_half", 0.5), ("active_one", 1.0))
        ),
    ),
    figure="figures:unit_panels",
    caption="Distribution of (w + l sign(w))^T h over draws of w = 0.1 h + delta, before the ReLU"
    " and after it, where what was below zero is the dot at zero, as high as if it filled one bin."
    " Last: the share that is active, which is larger at +a than at -a but falls slightly beyond"
    " l = 0. Histograms are means over seeds; bars of the share show the standard error over"
    " seeds, each with an input of its own. The number of inputs is ours; the paper's curves are"
    " not published as numbers.",
    alt="Three panels: histograms of a unit's input for five noise sizes moving right before and"
    " after the ReLU, and its activity against size.",
)
