"""Rows of curves, as all experiments that walk through a valley write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from harness.declare import Row, RunContext, Scalar
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.directions import BnStats, Group, Noise
from reproductions.asymvalley.method.layout import same_sign_ratio
from reproductions.asymvalley.method.noise import draw_noise, sign_consistent
from reproductions.asymvalley.models.images import images_of
from reproductions.asymvalley.models.pairs import Net


def lambdas(num_points: int, *, low: float = -1.0, high: float = 1.0) -> list[float]:
    """Return equally spaced points, the ends among them; 0 is 0 to the bit.

    >>> lambdas(5)
    [-1.0, -0.5, 0.0, 0.5, 1.0]
    """
    step = (high - low) / (num_points - 1)
    return [round(low + index * step, 9) + 0.0 for index in range(num_points)]


def statistics_of(params: Net) -> BnStats:
    """Return how a trial's network gets its statistics along a walk, as in the paper."""
    return "recalibrate" if params.batch_norm else "none"


def walk_through(
    model: nn.Module, params: Net, ctx: RunContext, *, bn_stats: BnStats | None = None
) -> Walk:
    """Return the walk of a trial's network on its images.

    bn_stats: other statistics than the paper's.
    """
    data = images_of(params, ctx).valley_data()
    return Walk(model, data, bn_stats=bn_stats or statistics_of(params))


def curve_rows(
    walk: Walk,
    step_P: Tensor,
    places: Sequence[float],
    labels: Mapping[str, Scalar],
    *,
    group: Group = "all",
) -> list[Row]:
    """Return one row per lambda: `labels`, lambda, error, ce, and the signs that agree.

    `sign_consistency`: the share of a group's coordinates in which the step has the sign of the
    weights. Elsewhere the step of a group is zero, which agrees with nothing.
    """
    mask_P = walk.layout.mask(group).to(walk.weights_P.device)
    consistency = same_sign_ratio(step_P[mask_P], walk.weights_P[mask_P])
    curve = walk.curve(step_P, places)
    return [
        {
            **labels,
            "lambda": place,
            "error": point.error,
            "ce": finite(point.ce),
            "sign_consistency": consistency,
        }
        for place, point in zip(curve.lambdas, curve.points, strict=True)
    ]


def noise_rows(
    walk: Walk,
    params: Any,
    kind: Noise,
    *,
    draws: int,
    scale: float = 1.0,
    group: Group = "all",
    **labels: Scalar,
) -> list[Row]:
    """Return the curves along norm-scaled draws of a noise, each raw and with the weights' signs.

    params: of the trial, with a `seed` and `num_points`. group: parameters that get the noise,
    which then has the norm of these alone.
    """
    mask_P = walk.layout.mask(group).to(walk.weights_P.device)
    rows: list[Row] = []
    for draw in range(draws):
        noise_P = draw_noise(kind, walk.layout.size, seed=params.seed, draw=draw).to(mask_P.device)
        for consistent in (False, True):
            eps_P = sign_consistent(noise_P, walk.weights_P) if consistent else noise_P
            step_P = walk.step(eps_P * mask_P, scale=scale, norm="ns", mask=mask_P)
            named = {**labels, "sign_consistent": consistent, "draw": draw}
            rows += curve_rows(walk, step_P, lambdas(params.num_points), named, group=group)
    return rows


def finite(value: float) -> float | None:
    """Return a number, or None where it is infinite or not a number, which no table holds."""
    return value if abs(value) < float("inf") else None
