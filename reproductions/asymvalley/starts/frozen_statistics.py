"""Statistics of batch normalisation re-estimated at every point, or frozen: a pitfall, measured.

The paper re-estimates them (appendix A.3) without showing what happens otherwise.
"""

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


def walk(params: RawParams, ctx: RunContext, trained: Solution, walk: Walk) -> list[Row]:
    """Walk along each draw with both kinds of statistics."""
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.models.curve_rows import both_rows, data_of

    frozen = Walk(trained.model, data_of(params, ctx), bn_stats="frozen")
    rows: list[Row] = []
    for mode, taken in (("recalibrate", walk), ("frozen", frozen)):
        for draw in range(int(params["num_draws"])):
            labels = {"bn_stats": mode}
            rows += both_rows(taken, params, "gaussian", draw=draw, scale=1.0, labels=labels)
    return rows


def points(profile: Profile) -> Iterator[Point]:
    """Yield one walk a pair and seed."""
    for pair in SHOWN:
        for point in solution.chosen(profile, pair):
            yield walked(profile, point)


def num_points(params: RawParams) -> int:
    """Return the points of a trial, one with frozen statistics as half of one."""
    return 3 * int(params["num_draws"]) * (int(params["num_points"]) - 1) + 1


experiment = walk_experiment(
    "asymvalley/frozen_statistics",
    rows=walk,
    points=points,
    num_points=num_points,
    address=("pair", "seed"),
)
