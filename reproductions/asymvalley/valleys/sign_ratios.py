"""Gaussian noise of which a growing share has the signs of the weights: Figure 4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, Row, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.models.pairs import Pair, Point
from reproductions.asymvalley.trained_nets import experiment as solution
from reproductions.asymvalley.trained_nets.scales import walked
from reproductions.asymvalley.trained_nets.walking import walk_experiment

if TYPE_CHECKING:
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.models.kept_nets import Solution

SHOWN: tuple[Pair, ...] = ("vgg16_cifar10", "resnet20_svhn")
NUM_RATIOS: dict[Profile, int] = {"smoke": 3, "cpu": 6, "gpu": 11, "paper": 11}
"""The paper has 0.0, 0.1, ..., 1.0; six of them at `cpu` (DEV-04)."""


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Walk along one draw at every ratio; the changed coordinates are nested."""
    import torch

    from reproductions.asymvalley.method.noise import draw_noise, partly_consistent
    from reproductions.asymvalley.models.curve_rows import curve_rows, lambdas
    from reproductions.asymvalley.models.kept_nets import generator_of

    seed, draw, size = int(params["seed"]), int(params["draw"]), walk.layout.size
    noise_P = draw_noise("gaussian", size, seed=seed, draw=draw).to(ctx.device)
    generator = generator_of(ctx.seed(f"changed {draw}"))
    uniform_P = torch.rand(size, generator=generator).to(ctx.device)
    rows: list[Row] = []
    for ratio in lambdas(int(params["num_ratios"]), low=0.0):
        eps_P = partly_consistent(noise_P, walk.weights_P, uniform_P, ratio)
        step_P = walk.step(eps_P, scale=1.0, norm="ns")
        rows += curve_rows(walk, step_P, lambdas(int(params["num_points"])), {"ratio": ratio})
    return rows


def points(profile: Profile) -> Iterator[Point]:
    """Yield one walk a pair, draw and seed."""
    for pair in SHOWN:
        for point in solution.chosen(profile, pair):
            point = walked(profile, point)
            for draw in range(int(point.pop("num_draws"))):
                yield point | {"draw": draw, "num_ratios": NUM_RATIOS[profile]}


def num_points(params: RawParams) -> int:
    """Return the points of a trial."""
    return int(params["num_ratios"]) * (int(params["num_points"]) - 1) + 1


experiment = walk_experiment(
    "asymvalley/sign_ratios",
    rows=walk,
    points=points,
    num_points=num_points,
    address=("pair", "draw", "seed"),
)
