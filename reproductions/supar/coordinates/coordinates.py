"""The coordinate check module by module: gradients and updates too, which the paper does not plot.

Its bounds were set when Figure 5's means over the same modules were known.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import Task, at_least, at_most, bind, claims
from reproductions.supar.coordinates import table
from reproductions.supar.coordinates.experiment import FRESH, coordinate_check
from reproductions.supar.coordinates.quantities import FIRST_STEP, least_slope, steepest_slope
from reproductions.supar.models.claims import OURS
from reproductions.supar.models.slopes import FLAT

TESTED = replace(OURS, elsewhere=table.TOO_NARROW, cohort=FRESH)
FALLING = 0.5
"""Least slope of an update's size over density that counts as falling under muP. An Adam step
moves every kept weight by the same lr, whatever the density. A change of the output by one masked
matrix then sums density * d inputs: in proportion to the density where their signs agree, to its
square root where they do not, and a change that comes from below passes at its square root. So
one matrix gives at least 0.5, and a block, two of them in series, at least 1."""
STEADY = {
    "grad_x_rms": ("gradient", "the gradient at the {} input, before any update"),
    "delta_y_rms": ("update", "the first update's change of the {} output"),
}

task = Task(
    "supar/coordinates",
    reads=(coordinate_check,),
    table=table.LAYERS,
    claims=claims(
        "Finding 1 and the feature-learning desiderata, section 3 (no plot); threshold: a factor"
        " 2.5 over four halvings",
        *(
            (
                f"{name}_supar_{block}",
                TESTED,
                # The largest of several noisy slopes errs towards failing.
                at_most(
                    partial(steepest_slope, scheme="supar", block=block, value=value), FLAT, ""
                ),
                f"Under SμPar, {phrase.format(word)}, does not depend on density in any layer (RMS,"
                f" log-log slope at most {FLAT:.2f} either way).",
            )
            for value, (name, phrase) in STEADY.items()
            for block, word in table.BLOCKS.items()
        ),
    )
    + claims(
        "Finding 1, section 3 (no plot); threshold: the least that theory allows one masked matrix",
        *(
            (
                f"update_mup_{block}",
                TESTED,
                at_least(
                    partial(least_slope, scheme="mup", block=block, value="delta_y_rms"),
                    FALLING,
                    "",
                ),
                f"Under μP, the first update changes the {word} output less at lower density in"
                f" every layer (RMS, log-log slope at least {FALLING:g}).",
            )
            for block, word in table.BLOCKS.items()
        ),
    ),
    figure=bind("figures:layer_panels", steps=FIRST_STEP),
    caption="Beyond the paper: RMS of the gradient at each block's input before any update, and"
    " of the change of its output by the first update, against density, one line per layer: mean"
    " over seeds; bars show its standard error. Titles state the least and the largest log-log"
    " slope over layers, each a mean over seeds. The paper prints no such plot.",
    alt="Six panels, gradient and update by SP, μP and SμPar: root mean square against density"
    " on logarithmic axes, one line per attention and feed-forward layer.",
    own_kind="ablation",
)
