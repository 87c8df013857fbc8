"""Rows of the toys: three scalings, one ReLU unit, class weights, softmax regression."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from reproductions.asymvalley.method.directions import Norm, OneDimRule
from reproductions.asymvalley.method.layout import layout_of, parameters_vector
from reproductions.asymvalley.method.noise import draw_noise, sign_consistent
from reproductions.asymvalley.method.scaling import scale_direction
from reproductions.asymvalley.models.curve_rows import lambdas
from reproductions.asymvalley.toys.experiment import Fit, Scaling, SoftmaxNoise, Unit
from reproductions.asymvalley.toys.relu_unit import (
    UnitDraws,
    density,
    draw_unit,
    expected_pre_activation,
    pre_activation,
    summary,
)
from reproductions.asymvalley.toys.softmax import (
    Images,
    class_margins,
    expected_cosine,
    fit_softmax,
    median_size,
    metrics,
    pattern_cosine,
    perturbed,
)
from reproductions.nets.vgg import VGG, VGGConfig

SCALINGS: tuple[tuple[Norm, OneDimRule], ...] = (
    ("raw", "abs"),
    ("filter_ns", "abs"),
    ("filter_ns", "skip"),
    ("filter_ns", "copy"),
    ("ns", "abs"),
)
"""The three of Figure 2; filter-NS with each rule for biases and batch normalisation (DEV-07)."""
UNIT_SIZES = (-1.0, -0.5, 0.0, 0.5, 1.0)
BIN_WIDTH = 4.0
NUM_BINS = 50
LOWEST = -80.0
"""Left end of the bins: zero is an edge of one, so the ReLU cuts no bin in two."""
STEPS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
"""Sizes of the noise in units of the median |w| of each class (DEV-15)."""


def scaling_rows(params: Scaling, ctx: RunContext) -> list[Row]:
    """Return angle and length of one noise under every scaling, one row each."""
    config = VGGConfig(
        image_size=32, in_channels=3, num_classes=10, depth=16, width=params.width, batch_norm=True
    )
    model = VGG(config, generator=torch.Generator().manual_seed(ctx.seed("init")))
    layout, weights_P = layout_of(model), parameters_vector(model)
    noise_P = draw_noise(params.noise, layout.size, seed=ctx.seed("noise"), draw=0)
    rows: list[Row] = []
    for norm, rule in SCALINGS:
        scaled_P = scale_direction(
            noise_P, weights_P, norm=norm, layout=layout, one_dim_rule=rule
        ).double()
        cosine = torch.cosine_similarity(scaled_P, noise_P.double(), dim=0)
        rows.append(
            {
                "norm": norm,
                "one_dim_rule": rule if norm == "filter_ns" else "",
                # Its complement would lose digits in a table of nine.
                "one_minus_cosine": 1.0 - float(cosine),
                "norm_ratio": float(scaled_P.norm() / weights_P.double().norm()),
                "num_params": layout.size,
            }
        )
    return rows


def unit_rows(params: Unit, ctx: RunContext) -> list[Row]:
    """Return one summary row and the bins of a histogram per size of the noise."""
    unit = draw_unit(
        num_inputs=params.num_inputs,
        num_draws=params.num_draws,
        pull=params.pull,
        generator=torch.Generator().manual_seed(ctx.seed("unit")),
    )
    return [row for size in UNIT_SIZES for row in _unit_rows(unit, size)]


def _unit_rows(unit: UnitDraws, size: float) -> Iterator[Row]:
    values = pre_activation(unit, size)
    found = summary(values) | {"expected_mean": expected_pre_activation(unit, size)}
    yield {"part": "summary", "lambda": size, "x": 0.0, **found, "density": None}
    empty = dict.fromkeys(found)
    heights = density(values, low=LOWEST, width=BIN_WIDTH, num_bins=NUM_BINS)
    for index, height in enumerate(heights):
        centre = LOWEST + (index + 0.5) * BIN_WIDTH
        yield {"part": "bin", "lambda": size, "x": centre, **empty, "density": height}


def pattern_rows(params: Fit, ctx: RunContext) -> list[Row]:
    """Return the fitted weights pixel by pixel, and cosines and margins by class and size."""
    images = digits(ctx)
    weights_CD = fit_softmax(images, max_iter=params.max_iter)
    empty = dict.fromkeys(("cosine", "expected_cosine", "margin"))
    pixels: list[Row] = [
        {"part": "pixel", "digit": digit, "x": float(pixel), "weight": value, **empty}
        for digit, row in enumerate(weights_CD.tolist())
        for pixel, value in enumerate(row)
    ]
    return pixels + list(_step_rows(weights_CD, images))


def _step_rows(weights_CD: Tensor, images: Images) -> Iterator[Row]:
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


def softmax_rows(params: SoftmaxNoise, ctx: RunContext) -> list[Row]:
    """Return the metrics along the noise and its sign-consistent form, one row per size."""
    images = digits(ctx)
    weights_CD = fit_softmax(images, max_iter=params.max_iter)
    generator = torch.Generator().manual_seed(ctx.seed("noise"))
    # The listing does not scale it.
    noise_CD = torch.randn(weights_CD.shape, generator=generator, dtype=weights_CD.dtype)
    rows: list[Row] = []
    for consistent in (False, True):
        along_CD = sign_consistent(noise_CD, weights_CD) if consistent else noise_CD
        for size in lambdas(params.num_lambdas):
            place = {"sign_consistent": consistent, "lambda": size}
            rows.append(place | _metrics_row(weights_CD, along_CD, size, images))
    return rows


def _metrics_row(
    weights_CD: Tensor, noise_CD: Tensor, size: float, images: Images
) -> dict[str, float]:
    moved_CD = weights_CD + size * noise_CD
    found = metrics(moved_CD, images, direction_CD=noise_CD)
    as_listed = metrics(moved_CD, images, direction_CD=moved_CD)
    for order in ("first_order", "second_order"):
        found |= {f"{order}_eps": found.pop(order), f"{order}_weight": as_listed[order]}
    return found


def digits(ctx: RunContext) -> Images:
    """Return all 1797 digits with raw pixel values, as both toys on digits use them."""
    arrays = ctx.dataset("digits").arrays
    # A copy: torch warns of arrays that cannot be written to, as a data set is.
    pixels = torch.from_numpy(arrays["x"].astype("float64"))
    return Images(
        pixels_ND=pixels.flatten(start_dim=1),
        labels_N=torch.from_numpy(arrays["y"].astype("int64")),
    )
