"""How the start of batch normalisation shapes the valley: Figures 7, 21 and 22.

The noise is {0,1}. Different solutions are compared, so filter-norm-scaled noise stands beside
norm-scaled; the mechanism shows with noise on the weights of batch normalisation alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, Row, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.models.pairs import BN_STARTS, Point
from reproductions.asymvalley.trained_nets import experiment as solution
from reproductions.asymvalley.trained_nets.scales import SCALES, walked
from reproductions.asymvalley.trained_nets.walking import walk_experiment

if TYPE_CHECKING:
    from torch import Tensor

    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.method.directions import Group, Norm
    from reproductions.asymvalley.models.kept_nets import Solution

NUM_QUANTILES = 41
"""Kept of the weights of batch normalisation: a histogram of any binning follows from them."""


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Walk along {0,1} noise on all parameters and on batch normalisation's; keep its weights."""
    rows: list[Row] = []
    draws = int(params["num_draws"])
    for scale in SCALES:
        rows += _curves(params, ctx, walk, "ns", "all", scale, 1)
        # Claims compare the smallest scale of this row.
        count = draws if scale == min(SCALES) else 1
        rows += _curves(params, ctx, walk, "filter_ns", "all", scale, count)
    rows += _curves(params, ctx, walk, "ns", "bn", 1.0, draws)
    return rows + _weights(walk)


def _curves(
    params: RawParams, ctx: RunContext, walk: Walk, norm: Norm, group: Group, s: float, draws: int
) -> list[Row]:
    from reproductions.asymvalley.method.noise import draw_noise
    from reproductions.asymvalley.models.curve_rows import curve_rows, lambdas

    # Noise on batch normalisation is noise on its weights: biases stay as they are.
    mask_P = walk.layout.mask("bn_weight" if group == "bn" else "all").to(ctx.device)
    rows: list[Row] = []
    for draw in range(draws):
        noise_P = draw_noise("binary", walk.layout.size, seed=int(params["seed"]), draw=draw)
        eps_P: Tensor = noise_P.to(ctx.device) * mask_P
        step_P = walk.step(eps_P, scale=s, norm=norm, mask=mask_P)
        labels = {"part": "curve", "norm": norm, "group": group, "s": s, "draw": draw}
        for row in curve_rows(walk, step_P, lambdas(int(params["num_points"])), labels):
            kept = {name: value for name, value in row.items() if name != "lambda"}
            rows.append({**kept, "x": row["lambda"], "bn_weight": None})
    return rows


def _weights(walk: Walk) -> list[Row]:
    """Return quantiles of all weights of batch normalisation, and the share of positive ones."""
    import torch

    from reproductions.asymvalley.models.curve_rows import lambdas

    weights = walk.weights_P[walk.layout.mask("bn_weight").to(walk.weights_P.device)].double()
    places = lambdas(NUM_QUANTILES, low=0.0)
    values = torch.quantile(weights, torch.tensor(places, dtype=torch.float64).to(weights.device))
    empty = {"norm": "", "group": "", "s": 0.0, "draw": 0}
    empty |= {"error": None, "ce": None, "sign_consistency": None}
    rows: list[Row] = [
        {"part": "quantile", "x": place, "bn_weight": float(value), **empty}
        for place, value in zip(places, values, strict=True)
    ]
    share = float((weights > 0).double().mean())
    return [*rows, {"part": "share", "x": 0.0, "bn_weight": share, **empty}]


def points(profile: Profile) -> Iterator[Point]:
    """Yield one walk a pair, start and seed."""
    for pair in solution.STARTED:
        for start in BN_STARTS:
            for point in solution.chosen(profile, pair, bn_start=start):
                yield walked(profile, point)


def num_points(params: RawParams) -> int:
    """Return the points of a trial."""
    curves = 2 * len(SCALES) - 1 + 2 * int(params["num_draws"])
    return curves * (int(params["num_points"]) - 1) + 1


experiment = walk_experiment(
    "asymvalley/batch_norm_starts",
    rows=walk,
    points=points,
    num_points=num_points,
    address=("pair", "bn_start", "seed"),
)
