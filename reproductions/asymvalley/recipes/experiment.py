"""Gaussian noise around solutions of six recipes: Figures 9 and 23."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, Row, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.models.pairs import RECIPES, Point
from reproductions.asymvalley.trained_nets import experiment as solution
from reproductions.asymvalley.trained_nets.scales import walked
from reproductions.asymvalley.trained_nets.walking import walk_experiment

if TYPE_CHECKING:
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.models.kept_nets import Solution


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Walk along each draw, raw and sign-consistent, at s = 1."""
    from reproductions.asymvalley.models.curve_rows import both_rows

    rows: list[Row] = []
    for draw in range(int(params["num_draws"])):
        rows += both_rows(walk, params, "gaussian", draw=draw, scale=1.0, labels={})
    return rows


def points(profile: Profile) -> Iterator[Point]:
    """Yield one walk a pair, recipe and seed."""
    for pair in solution.TUNED:
        for recipe in RECIPES:
            for point in solution.chosen(profile, pair, recipe=recipe):
                yield walked(profile, point)


def num_points(params: RawParams) -> int:
    """Return the points of a trial."""
    return 2 * int(params["num_draws"]) * (int(params["num_points"]) - 1) + 1


experiment = walk_experiment(
    "asymvalley/recipes",
    rows=walk,
    points=points,
    num_points=num_points,
    address=("pair", "recipe", "seed"),
)
