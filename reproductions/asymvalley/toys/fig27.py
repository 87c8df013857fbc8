"""Figure 27: sign-consistent noise moves the input of a ReLU unit, before and after the ReLU."""

from functools import partial

from harness.declare import Task, claims, equal, more_than
from reproductions.asymvalley.models.controls import TOY_CHECK
from reproductions.asymvalley.toys import quantities as q
from reproductions.asymvalley.toys import table
from reproductions.asymvalley.toys.experiment import units

SIZES = (0.5, 1.0)

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
            "The mean pre-activation is sum_i h_i (a h_i + l (2 Phi(a h_i) - 1)).",
        ),
        (
            "mean_rises",
            TOY_CHECK,
            more_than(q.smallest_mean_step, 0, "pre-activation"),
            "The mean pre-activation rises with l in every sample.",
        ),
        (
            "active_more_often",
            TOY_CHECK,
            more_than(partial(q.smallest_active_gains, sizes=SIZES), 0, "share of draws").naming(
                *(f"l = {size:g}" for size in SIZES)
            ),
            "The unit is active more often at +l than at -l in every sample.",
        ),
    ),
    figure="figures:unit_panels",
    caption="Distribution of (w + l sign(w))^T h over draws of w = 0.1 h + delta, before the ReLU"
    " and after it, where what was below zero is the dot at zero, as high as if it filled one bin."
    " Last: the share that is active. Histograms are means over seeds, each with an input of its"
    " own; bars show the standard error over seeds.",
    alt="Three panels: histograms of a unit's input for five noise sizes moving right before and"
    " after the ReLU, and its activity against size.",
)
