"""Figure 5: do activations keep their size as weights are removed? The coordinate check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

from harness.declare import CHECK, CPU_UP, Task, at_most, claims, ratio, within
from reproductions.supar.coordinates import quantities as q
from reproductions.supar.coordinates import table
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.models.claims import OURS, Row
from reproductions.supar.models.schemes import NAMES

SCHEMES = ("supar", "sp", "mup")
TESTED = replace(OURS, elsewhere=table.TOO_NARROW)
BY_RULE = CHECK.at(*CPU_UP, elsewhere=table.TOO_NARROW)
"""Set by the scheme's own rule, in the mean over seeds: it says that our code follows that."""
SIZES = {
    "delta_y_rms": (
        "update",
        "the change of the {} output by the first update, where the rule sets it",
        1,
    ),
    "grad_x_rms": (
        "gradient",
        "the gradient with respect to the {} input, before any update, where the rule sets it",
        0,
    ),
}
"""The word of a claim, its phrase, and the step at which a size is judged."""
DENSITIES = ("1/16", "1/8", "1/4", "1/2", "dense")
PAIRS = tuple(f"{sparser} and {denser}" for sparser, denser in combinations(DENSITIES, 2))
LAST_STEP = 9


def slopes() -> Iterator[Row]:
    """Yield the checks on activations at initialization."""
    for scheme in SCHEMES:
        for block, word in table.BLOCKS.items():
            where: dict[str, Any] = {"scheme": scheme, "block": block, "step": 0}
            if scheme == "supar":
                criterion = at_most(partial(q.activation_slope_size, **where), 0.15, "")
                phrase = "do not depend on density (log-log slope at most 0.15)."
            else:
                criterion = within(partial(q.activation_slope, **where), 0.7, 1.4, "")
                phrase = "shrink in proportion to density (log-log slope 0.7 to 1.4)."
            statement = (
                f"At initialization, where the rule decides it, {word} activations under"
                f" {NAMES[scheme]} {phrase}"
            )
            yield f"slope_{scheme}_{block}", BY_RULE, criterion, statement


def after_training() -> Iterator[Row]:
    """Yield the claims on activations after nine updates."""
    for scheme in SCHEMES:
        low, high, phrase = (
            (0.25, 4.0, "within a factor 4 of the dense ones.")
            if scheme == "supar"
            else (0.0, 0.1, "at most 0.1 of the dense ones.")
        )
        for block, word in table.BLOCKS.items():
            pair = partial(
                q.sparse_to_dense, scheme=scheme, block=block, step=LAST_STEP, density=0.0625
            )
            statement = (
                f"After nine updates under {NAMES[scheme]}, {word} activations at density 1/16 are"
                f" {phrase}"
            )
            yield f"after_{scheme}_{block}", TESTED, ratio(pair, low, high, ""), statement


def sizes() -> Iterator[Row]:
    """Yield the checks on updates and gradients under SmuPar."""
    for value, (name, phrase, step) in SIZES.items():
        for block, word in table.BLOCKS.items():
            each = partial(q.each_to_each, value=value, scheme="supar", block=block, step=step)
            yield (
                f"{name}_supar_{block}",
                BY_RULE,
                ratio(each, 1 / 2.5, 2.5, "").naming(*PAIRS),
                f"Under {NAMES['supar']}, {phrase.format(word)}, differs by at most a factor 2.5"
                " between any two densities.",
            )


task = Task(
    "supar/fig05",
    reads=(coordinate_check,),
    table=table.BLOCK_MEANS,
    claims=claims("Figure 5, Finding 1", *slopes(), *after_training())
    + claims(
        "Finding 1 and the feature-learning desiderata, section 3 (no plot)",
        *sizes(),
    ),
    figure="figures:coordinate_panels",
    caption="Mean absolute activation against density, one line per step from before training"
    " (t=0) to after nine updates (t=9): mean over seeds; bars, at t=0 and t=9, show its standard"
    " error. Each panel states the fitted log-log slope at t=0, with its 95 % interval."
    " Hollow and dashed: the plot shipped with the authors' code, a third party's reproduction"
    " and not the paper's figure; its width, rate and scaling of residual outputs are its own, so"
    " slopes compare and levels do not.",
    alt="Six panels, attention and feed-forward by SP, μP and SμPar: mean absolute activation"
    " against density on logarithmic axes, one line per training step.",
)
