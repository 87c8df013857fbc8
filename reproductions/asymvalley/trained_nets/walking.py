"""What every experiment that walks through trained networks declares alike. No torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Grid,
    Outcome,
    RawParams,
    Row,
    RunContext,
    Status,
    Use,
)
from harness.declare.profiles import PROFILES, Profile
from reproductions.asymvalley.models.costs import estimate as estimate_of
from reproductions.asymvalley.models.costs import needs_of, point_s
from reproductions.asymvalley.models.pairs import Point
from reproductions.asymvalley.trained_nets import experiment as solution

if TYPE_CHECKING:
    from reproductions.asymvalley.method.curve import Walk
    from reproductions.asymvalley.models.kept_nets import Solution

WalkRows = Callable[[RawParams, RunContext, "Solution", "Walk"], list[Row]]


def walk_experiment(
    id: str,
    *,
    rows: WalkRows,
    points: Callable[[Profile], Iterator[Point]],
    num_points: Callable[[RawParams], int],
    address: tuple[str, ...],
) -> Experiment:
    """Return an experiment whose trials walk through one trained network each.

    rows: the walk itself; num_points: how many points a trial measures.
    """

    def run(params: RawParams, ctx: RunContext) -> Outcome:
        from reproductions.asymvalley.models.curve_rows import kept_solution, walk_of

        upstream = ctx.upstream(solution.experiment, **solution.of(params))
        trained = kept_solution(params, ctx, upstream)
        if trained is None:
            note = "its network diverged in training"
            return Outcome(rows=[], status=Status.DIVERGED, note=note)
        return Outcome(rows=rows(params, ctx, trained, walk_of(params, ctx, trained)))

    # The digest of a record's code follows the module of the function that is run.
    run.__module__ = rows.__module__

    def estimate(params: RawParams) -> Estimate:
        return estimate_of(num_points(params) * point_s(params))

    return Experiment(
        id=id,
        version=1,
        run=run,
        grid=grids(points),
        needs=needs_of,
        uses=(Use(experiment=solution.experiment, params=solution.of),),
        estimate=estimate,
        timeout_s=24 * 3600.0,
        address=address,
    )


def grids(points: Callable[[Profile], Iterator[Point]]) -> dict[Profile, Grid]:
    """Return the grid of each profile from one function of the profile."""

    def of(profile: Profile) -> Grid:
        return lambda: points(profile)

    return {profile: of(profile) for profile in PROFILES}
