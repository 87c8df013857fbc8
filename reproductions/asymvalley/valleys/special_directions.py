"""Six directions made of the weights themselves: Figures 5 and 16 to 19."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from harness.declare.experiment import RawParams, Row, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.method.directions import DIRECTIONS, Direction
from reproductions.asymvalley.models.pairs import COMMON, Pair, Point
from reproductions.asymvalley.trained_nets import experiment as solution
from reproductions.asymvalley.trained_nets.scales import SCALES, walked
from reproductions.asymvalley.trained_nets.walking import walk_experiment

if TYPE_CHECKING:
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.models.kept_nets import Solution

SHOWN: tuple[Pair, ...] = (*COMMON, "vgg16nobn_cifar10")
"""With a twin without batch normalisation of Figure 5's network."""


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Walk along one direction at every scale."""
    from reproductions.asymvalley.method.noise import special_direction
    from reproductions.asymvalley.models.curve_rows import curve_rows, lambdas

    name = cast(Direction, params["direction"])
    eps_P = special_direction(name, walk.weights_P, trained.initial_P, walk.layout)
    rows: list[Row] = []
    for scale in SCALES:
        step_P = walk.step(eps_P, scale=scale, norm="ns")
        rows += curve_rows(walk, step_P, lambdas(int(params["num_points"])), {"s": scale})
    return rows


def points(profile: Profile) -> Iterator[Point]:
    """Yield one walk a pair, direction and seed; nothing is drawn."""
    for pair in SHOWN:
        for point in solution.chosen(profile, pair):
            point = walked(profile, point)
            del point["num_draws"]
            for direction in DIRECTIONS:
                yield point | {"direction": direction}


def num_points(params: RawParams) -> int:
    """Return the points of a trial."""
    return len(SCALES) * (int(params["num_points"]) - 1) + 1


experiment = walk_experiment(
    "asymvalley/special_directions",
    rows=walk,
    points=points,
    num_points=num_points,
    address=("pair", "direction", "seed"),
)
