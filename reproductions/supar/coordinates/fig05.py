"""Figure 5: do activations keep their size as weights are removed? The coordinate check."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import partial

from harness.declare import CHECK, CPU_UP, Task, at_most, claims, ratio, within
from reproductions.supar.coordinates import quantities as q
from reproductions.supar.coordinates import table
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.models.claims import SPREAD, TRAINED, Row
from reproductions.supar.models.schemes import LABELS, SCHEMES

RIVALS = ("sp", "mup")
LAST_STEP = 9
GROWN = 2.0
TESTED = replace(TRAINED, elsewhere=table.TOO_NARROW).controlled(
    "nine updates make the activations of every scheme's dense blocks at least twice as large",
    ratio(
        partial(q.last_to_first, schemes=SCHEMES, step=LAST_STEP, density=1.0), GROWN, math.inf, ""
    ).measuring("activation over that before training"),
)
BY_RULE = CHECK.at(*CPU_UP, elsewhere=table.TOO_NARROW)
"""Set by the scheme's own rule, in the mean over seeds: it says that our code follows that."""
DENSITIES = ("1/16", "1/8", "1/4", "1/2", "dense")


def named(*schemes: str) -> list[str]:
    """Return the names of a quantity's numbers: blocks, of each scheme where there are several."""
    if len(schemes) == 1:
        return list(table.BLOCKS.values())
    return [f"{LABELS[scheme]}, {block}" for scheme in schemes for block in table.BLOCKS.values()]


def after_training(id: str, *schemes: str, low: float, high: float, statement: str) -> Row:
    """Return the claim on activations after nine updates."""
    pairs = partial(q.sparse_to_dense, schemes=schemes, step=LAST_STEP, density=0.0625)
    asked = ratio(pairs, low, high, "").naming(*named(*schemes))
    return id, TESTED, asked.measuring("activation over the dense one"), statement


def keep_size(name: str, value: str, statement: str) -> Row:
    """Return the check that a size of SmuPar's blocks does not depend on density."""
    pairs = [f"{a} and {b}" for a, b in itertools.combinations(DENSITIES, 2)]
    each = partial(q.each_to_each, value=value, scheme="supar", step=q.FIRST_STEP[value])
    names = [f"{block}, {pair}" for block in table.BLOCKS.values() for pair in pairs]
    return f"{name}_keep_size", BY_RULE, ratio(each, 1 / 2.5, 2.5, "").naming(*names), statement


task = Task(
    "supar/fig05",
    reads=(coordinate_check,),
    table=table.BLOCK_MEANS,
    claims=claims(
        "Figure 5, Finding 1",
        (
            "supar_flat_at_start",
            BY_RULE,
            at_most(partial(q.slope_sizes, schemes=("supar",), step=0), 0.15, "").naming(
                *named("supar")
            ),
            "Before training, activations under SμPar do not depend on density: their log-log slope"
            " is about 0.",
        ),
        (
            "sp_and_mup_shrink",
            BY_RULE,
            within(partial(q.slopes, schemes=RIVALS, step=0), 0.7, 1.4, "").naming(*named(*RIVALS)),
            "Before training, activations under SP and μP shrink with density: their log-log slope"
            " is about 1.",
        ),
        after_training(
            "supar_activations_stay",
            "supar",
            low=0.25,
            high=4.0,
            statement="After nine updates under SμPar, activations at density 1/16 are within a"
            " factor of four of dense ones.",
        ),
        after_training(
            "sp_and_mup_vanish",
            *RIVALS,
            low=0.0,
            high=0.1,
            statement="After nine updates under SP and μP, activations at density 1/16 have all but"
            " vanished.",
        ),
    )
    + claims(
        "Finding 1 and the feature-learning desiderata, section 3 (no plot)",
        keep_size(
            "updates",
            "delta_y_rms",
            "The first update under SμPar changes a block's output by about as much at every"
            " density.",
        ),
        keep_size(
            "gradients",
            "grad_x_rms",
            "Before training, gradients at a block's input under SμPar are about as large at every"
            " density.",
        ),
    ),
    figure="figures:coordinate_panels",
    caption="Mean absolute activation against density, one line per step from before training"
    f" (t=0) to after nine updates (t=9). {SPREAD} Each panel states the log-log slope at t=0 with"
    " its 95 % interval. Hollow and dashed: the plot shipped with the authors' code, whose width,"
    " rate and scaling of residual outputs are its own. Slopes compare, levels do not.",
    alt="Six panels, attention and feed-forward by SP, μP and SμPar: mean absolute activation"
    " against density on logarithmic axes, one line per training step.",
)
