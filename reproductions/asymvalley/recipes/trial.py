"""Rows of walks around nets of six recipes, and of the line between nets of two."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from torch import Tensor

from harness.declare import Outcome, Row, RunContext
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.method.interpolation import group_statistics, interpolation_curve
from reproductions.asymvalley.method.layout import Layout, layout_of, parameters_vector
from reproductions.asymvalley.models.curve_rows import (
    finite,
    lambdas,
    noise_rows,
    statistics_of,
    walk_through,
)
from reproductions.asymvalley.models.images import images_of
from reproductions.asymvalley.models.kept_nets import NO_NET, kept_net
from reproductions.asymvalley.models.pairs import DrawnCurves
from reproductions.asymvalley.recipes.experiment import Line
from reproductions.asymvalley.trained_nets.experiment import nets


def recipe_rows(params: DrawnCurves, ctx: RunContext) -> Outcome:
    """Walk along each draw, raw and sign-consistent, at s = 1."""
    net = kept_net(params, ctx, nets)
    if net is None:
        return NO_NET
    walk = walk_through(net.model, params, ctx)
    return Outcome(rows=noise_rows(walk, params, "gaussian", draws=params.num_draws))


def line_rows(params: Line, ctx: RunContext) -> Outcome:
    """Walk from one net to the other and beyond; compare their parameters by group."""
    trained = (params.training(), params.second_training())
    first, second = (kept_net(each, ctx, nets) for each in trained)
    if first is None or second is None:
        return NO_NET
    curve = interpolation_curve(
        first.model,
        dict(first.model.named_parameters()),
        dict(second.model.named_parameters()),
        lambdas(params.num_places, low=-1.0, high=2.0),
        bn_stats=statistics_of(params),
        data=images_of(params, ctx).valley_data(),
    )
    none: dict[str, Any] = dict.fromkeys(("mean", "std", "norm", "consistency"))
    place_of: dict[str, Any] = {"part": "line", "group": "", "solution": ""}
    rows: list[Row] = [
        {**place_of, "x": place, "error": point.error, "ce": finite(point.ce), **none}
        for place, point in zip(curve.lambdas, curve.points, strict=True)
    ]
    vectors = (parameters_vector(net.model) for net in (first, second))
    return Outcome(rows=rows + _groups(layout_of(first.model), *vectors))


def _groups(layout: Layout, first_P: Tensor, second_P: Tensor) -> list[Row]:
    rows: list[Row] = []
    for group in ("all", *PARTITION):
        for name, weights_P in (("first", first_P), ("second", second_P)):
            found = group_statistics(weights_P.cpu(), (second_P - first_P).cpu(), layout, group)
            labels: dict[str, Any] = {"part": "group", "group": group, "solution": name, "x": 0.0}
            rows.append({**labels, **asdict(found), "error": None, "ce": None})
    return rows
