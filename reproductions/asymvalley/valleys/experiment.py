"""Seven common noises, raw and with the signs of the weights: Figures 3 and 12 to 15."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from harness.declare.experiment import RawParams, Row, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.method.directions import NOISES, Noise
from reproductions.asymvalley.models.pairs import COMMON, Point
from reproductions.asymvalley.trained_nets import experiment as solution
from reproductions.asymvalley.trained_nets.scales import SCALES, draws_at, walked
from reproductions.asymvalley.trained_nets.walking import walk_experiment

if TYPE_CHECKING:
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.models.kept_nets import Solution

FEW: tuple[Noise, ...] = ("gaussian", "ones")
"""Noises of a pair at `smoke`, but for the first pair."""


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Walk along one kind of noise through one network; raw and sign-consistent."""
    from reproductions.asymvalley.models.curve_rows import both_rows

    rows: list[Row] = []
    for scale in SCALES:
        for draw in range(draws_at(scale, params)):
            kind = cast(Noise, params["noise"])
            rows += both_rows(walk, params, kind, draw=draw, scale=scale, labels={"s": scale})
    return rows


def points(profile: Profile) -> Iterator[Point]:
    """Yield every walk of a profile, pair by pair."""
    for pair in COMMON:
        noises = NOISES if profile != "smoke" or pair == COMMON[0] else FEW
        for point in solution.chosen(profile, pair):
            for noise in noises:
                yield walked(profile, point) | {"noise": noise}


def num_points(params: RawParams) -> int:
    """Return the points of a trial; all its curves share the one at lambda = 0."""
    curves = 2 * sum(draws_at(scale, params) for scale in SCALES)
    return curves * (int(params["num_points"]) - 1) + 1


experiment = walk_experiment(
    "asymvalley/common_noises",
    rows=walk,
    points=points,
    num_points=num_points,
    address=("pair", "noise", "seed"),
)
