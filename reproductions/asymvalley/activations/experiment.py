"""Which hidden units stay on along sign-consistent noise: Figure 28."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, Row, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.models.pairs import Point
from reproductions.asymvalley.trained_nets import experiment as solution
from reproductions.asymvalley.trained_nets.scales import walked
from reproductions.asymvalley.trained_nets.walking import walk_experiment

if TYPE_CHECKING:
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.models.kept_nets import Solution

PLACES = tuple(round(-1.0 + 0.2 * k, 1) + 0.0 for k in range(11))
"""The paper's: -1.0, -0.8, ..., 1.0 (appendix D.2)."""


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Compare the units at every lambda with those of the trained network."""
    from reproductions.asymvalley.activations.trial import agreement_along
    from reproductions.asymvalley.method.noise import draw_noise, sign_consistent

    rows: list[Row] = []
    for draw in range(int(params["num_draws"])):
        noise_P = draw_noise("gaussian", walk.layout.size, seed=int(params["seed"]), draw=draw)
        eps_P = sign_consistent(noise_P.to(ctx.device), walk.weights_P)
        step_P = walk.step(eps_P, scale=1.0, norm="ns")
        for place, shares in agreement_along(walk, step_P, PLACES):
            rows.append({"draw": draw, "lambda": place, **shares})
    return rows


def points(profile: Profile) -> Iterator[Point]:
    """Yield one walk a seed."""
    for point in solution.chosen(profile, "resnet20_svhn"):
        point = walked(profile, point)
        del point["num_points"]
        yield point


def num_points(params: RawParams) -> int:
    """Return the points of a trial, each with a pass of the units at lambda = 0 beside it."""
    return 2 * int(params["num_draws"]) * len(PLACES)


experiment = walk_experiment(
    "asymvalley/activations",
    rows=walk,
    points=points,
    num_points=num_points,
    address=("pair", "seed"),
)
