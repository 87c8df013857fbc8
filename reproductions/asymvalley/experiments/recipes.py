"""Gaussian noise around solutions of six recipes: Figures 9 and 23."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import RawParams, Row, RunContext
from harness.declare.profiles import Profile
from reproductions.asymvalley.experiments import solution
from reproductions.asymvalley.experiments.walking import walk_experiment
from reproductions.asymvalley.pairs import RECIPES, Point
from reproductions.asymvalley.scales import walked

if TYPE_CHECKING:
    from reproductions.asymvalley.curve import Walk
    from reproductions.asymvalley.solutions import Solution


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Walk along each draw, raw and sign-consistent, at s = 1."""
    from reproductions.asymvalley.walks import both_rows

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
