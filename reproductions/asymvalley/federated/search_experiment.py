"""The choice of each federated algorithm's coefficient, on validation images alone.

One trial a cell of Table 1 (data set, algorithm, alpha) tries all its candidates at a seed that no
grid reports. Every algorithm tries equally many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.declare.experiment import DryRun, Estimate, Experiment, RawParams, Row, RunContext
from reproductions.asymvalley.federated import grids
from reproductions.asymvalley.federated.costs import estimate_of, needs


def run(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Try every candidate; one row each."""
    from reproductions.asymvalley.federated.trial import search

    return search(params, ctx)


def estimate(params: RawParams) -> Estimate:
    """Return what all candidates cost."""
    return estimate_of(params, num_runs=len(str(params["candidates"]).split()), num_tests=1)


def dry_run(params: RawParams) -> DryRun:
    """Build and count the net without computing it; steps are those of one candidate."""
    from reproductions.asymvalley.federated.trial import dry_run as dry_run_federated

    return dry_run_federated(params)


def smoke_grid() -> Iterator[RawParams]:
    """Yield the searches of Table 1's smoke grid."""
    yield from grids.searches_of(grids.smoke_grid())


def cpu_grid() -> Iterator[RawParams]:
    """Yield the searches of Table 1's cpu grid, one for every alpha."""
    yield from grids.searches_of(grids.cpu_grid())


def gpu_grid() -> Iterator[RawParams]:
    """Yield the searches of Table 1's gpu grid."""
    yield from grids.searches_of(grids.gpu_grid())


def paper_grid() -> Iterator[RawParams]:
    """Yield the searches of the paper's own setting."""
    yield from grids.searches_of(grids.paper_grid())


experiment = Experiment(
    id="asymvalley/federated_search",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": paper_grid},
    needs=needs,
    estimate=estimate,
    dry_run=dry_run,
    timeout_s=7 * 24 * 3600.0,
    address=("dataset", "algorithm", "alpha"),
)
