"""Rows of walks through nets whose batch normalisation starts, or is estimated, in several ways."""

from __future__ import annotations

from typing import Any

import torch

from harness.declare import Outcome, Row, RunContext
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.directions import BnStats, Group, Norm
from reproductions.asymvalley.method.noise import draw_noise
from reproductions.asymvalley.models.curve_rows import curve_rows, lambdas, noise_rows, walk_through
from reproductions.asymvalley.models.kept_nets import NO_NET, kept_net
from reproductions.asymvalley.models.pairs import SCALES, DrawnCurves
from reproductions.asymvalley.trained_nets.experiment import nets

NUM_QUANTILES = 41
"""Kept of the weights of batch normalisation: a histogram of any binning follows from them."""


def start_rows(params: DrawnCurves, ctx: RunContext) -> Outcome:
    """Walk along {0,1} noise on all parameters and on batch normalisation's; keep its weights."""
    net = kept_net(params, ctx, nets)
    if net is None:
        return NO_NET
    walk = walk_through(net.model, params, ctx)
    draws = params.num_draws
    rows: list[Row] = []
    for scale in SCALES:
        rows += _curves(walk, params, "ns", "all", scale, 1)
        # Claims compare the smallest scale of this row.
        count = draws if scale == min(SCALES) else 1
        rows += _curves(walk, params, "filter_ns", "all", scale, count)
    rows += _curves(walk, params, "ns", "bn", 1.0, draws)
    return Outcome(rows=rows + _weights(walk))


def _curves(
    walk: Walk, params: DrawnCurves, norm: Norm, group: Group, s: float, draws: int
) -> list[Row]:
    # Noise on batch normalisation is noise on its weights: biases stay as they are.
    device = walk.weights_P.device
    mask_P = walk.layout.mask("bn_weight" if group == "bn" else "all").to(device)
    rows: list[Row] = []
    for draw in range(draws):
        noise_P = draw_noise("binary", walk.layout.size, seed=params.seed, draw=draw)
        step_P = walk.step(noise_P.to(device) * mask_P, scale=s, norm=norm, mask=mask_P)
        labels = {"part": "curve", "norm": norm, "group": group, "s": s, "draw": draw}
        for row in curve_rows(walk, step_P, lambdas(params.num_points), labels):
            kept = {name: value for name, value in row.items() if name != "lambda"}
            rows.append({**kept, "x": row["lambda"], "bn_weight": None})
    return rows


def _weights(walk: Walk) -> list[Row]:
    """Return quantiles of all weights of batch normalisation, and the share of positive ones."""
    weights = walk.weights_P[walk.layout.mask("bn_weight").to(walk.weights_P.device)].double()
    places = lambdas(NUM_QUANTILES, low=0.0)
    values = torch.quantile(weights, torch.tensor(places, dtype=torch.float64).to(weights.device))
    empty: dict[str, Any] = {"norm": "", "group": "", "s": 0.0, "draw": 0}
    empty |= {"error": None, "ce": None, "sign_consistency": None}
    rows: list[Row] = [
        {"part": "quantile", "x": place, "bn_weight": float(value), **empty}
        for place, value in zip(places, values, strict=True)
    ]
    share = float((weights > 0).double().mean())
    return [*rows, {"part": "share", "x": 0.0, "bn_weight": share, **empty}]


def statistics_rows(params: DrawnCurves, ctx: RunContext) -> Outcome:
    """Walk along each draw with both kinds of statistics."""
    net = kept_net(params, ctx, nets)
    if net is None:
        return NO_NET
    rows: list[Row] = []
    modes: tuple[BnStats, ...] = ("recalibrate", "frozen")
    for mode in modes:
        walk = walk_through(net.model, params, ctx, bn_stats=mode)
        rows += noise_rows(walk, params, "gaussian", draws=params.num_draws, bn_stats=mode)
    return Outcome(rows=rows)
