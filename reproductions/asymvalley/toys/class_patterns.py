"""The class weights of Figure 10: the paper's own settings in every profile, no seeds.

The fit is deterministic, and so is sign-consistent noise of constant size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext
from reproductions.asymvalley.toys.softmax_noise import MAX_ITER, digits

if TYPE_CHECKING:
    from torch import Tensor

    from reproductions.asymvalley.toys.softmax import Images

STEPS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
"""Sizes of the noise in units of the median |w| of each class (DEV-15)."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Return the fitted weights pixel by pixel, and cosines and margins by class and size."""
    from reproductions.asymvalley.toys.softmax import fit_softmax

    images = digits(ctx)
    weights_CD = fit_softmax(images, max_iter=int(params["max_iter"]))
    empty = dict.fromkeys(("cosine", "expected_cosine", "margin"))
    pixels: list[Row] = [
        {"part": "pixel", "digit": digit, "x": float(pixel), "weight": value, **empty}
        for digit, row in enumerate(weights_CD.tolist())
        for pixel, value in enumerate(row)
    ]
    return pixels + list(_walk(weights_CD, images))


def _walk(weights_CD: Tensor, images: Images) -> Iterator[Row]:
    from reproductions.asymvalley.toys.class_pattern import (
        class_margins,
        expected_cosine,
        pattern_cosine,
        perturbed,
    )
    from reproductions.asymvalley.toys.softmax import median_size

    for step in STEPS:
        sizes_C = step * median_size(weights_CD)
        found = zip(
            pattern_cosine(weights_CD, sizes_C).tolist(),
            expected_cosine(weights_CD, sizes_C).tolist(),
            class_margins(perturbed(weights_CD, sizes_C), images).tolist(),
            strict=True,
        )
        for digit, (cosine, expected, margin) in enumerate(found):
            yield {
                "part": "step",
                "digit": digit,
                "x": step,
                "weight": None,
                "cosine": cosine,
                "expected_cosine": expected,
                "margin": margin,
            }


def grid() -> Iterator[RawParams]:
    """Yield the only trial."""
    yield {"max_iter": MAX_ITER}


def estimate(params: RawParams) -> Estimate:
    """Return the measured cost: a fit and nine products with all images."""
    return Estimate(seconds=0.3, memory_bytes=200_000_000)


experiment = Experiment(
    id="asymvalley/class_pattern",
    version=1,
    run=run,
    grid={"smoke": grid, "cpu": grid, "paper": grid},
    seed_from=(),
    needs=Needs(data=("digits",)),
    estimate=estimate,
)
