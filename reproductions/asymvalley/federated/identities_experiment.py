"""Identities of the federated algorithms, on a tiny trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.declare.experiment import Estimate, Experiment, RawParams, Row, RunContext
from reproductions.asymvalley.federated import grids
from reproductions.asymvalley.federated.costs import needs


def run(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Measure every identity; one row each."""
    from reproductions.asymvalley.federated.identities import identity_rows

    return list(identity_rows(params, ctx))


def estimate(params: RawParams) -> Estimate:
    """Return what the four tiny runs cost."""
    return Estimate(seconds=0.3 * int(params["rounds"]))


def grid() -> Iterator[RawParams]:
    """Yield one trial of four clients on digits, the same in every profile that has it."""
    yield {"seed": 0, "alpha": 1.0, **grids.FEDREPO, **grids.SMOKE_DIGITS}


experiment = Experiment(
    id="asymvalley/federated_identities",
    version=1,
    run=run,
    grid={"smoke": grid, "cpu": grid},
    needs=needs,
    estimate=estimate,
    address=("data", "seed"),
)
