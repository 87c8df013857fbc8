"""Six federated algorithms on Dirichlet splits of two data sets: Table 1."""

from __future__ import annotations

from harness.declare.experiment import (
    DryRun,
    Estimate,
    Experiment,
    Outcome,
    RawParams,
    RunContext,
    Status,
    Use,
)
from reproductions.asymvalley.federated import grids
from reproductions.asymvalley.federated import search_experiment as federated_search
from reproductions.asymvalley.federated.costs import estimate_of, needs


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Train with the coefficient that the search chose; rows of rounds, and the final one."""
    from reproductions.asymvalley.federated.trial import (
        evaluated_rounds,
        federation_of,
        rows_of,
        run_candidate,
    )

    tried = ctx.upstream(federated_search.experiment, **grids.search_of(params)).rows
    (chosen,) = (row for row in tried if row["chosen"])
    federation = federation_of(params, ctx)
    result = run_candidate(
        params,
        ctx,
        federation,
        str(chosen["candidate"]),
        held_out=federation.test,
        eval_rounds=evaluated_rounds(params),
    )
    status = Status.DIVERGED if result.diverged else Status.DONE
    return Outcome(rows=list(rows_of(params, result, chosen)), status=status, note=result.diverged)


def estimate(params: RawParams) -> Estimate:
    """Return what a run costs, without its search."""
    num_tests = int(params["rounds"]) // int(params["eval_every"])
    return estimate_of(params, num_runs=1, num_tests=num_tests)


def dry_run(params: RawParams) -> DryRun:
    """Build and count the net without computing it."""
    from reproductions.asymvalley.federated.trial import dry_run as dry_run_federated

    return dry_run_federated(params)


experiment = Experiment(
    id="asymvalley/federated",
    version=1,
    run=run,
    grid={
        "smoke": grids.smoke_grid,
        "cpu": grids.cpu_grid,
        "gpu": grids.gpu_grid,
        "paper": grids.paper_grid,
    },
    needs=needs,
    uses=(Use(experiment=federated_search.experiment, params=grids.search_of),),
    estimate=estimate,
    dry_run=dry_run,
    timeout_s=7 * 24 * 3600.0,
    address=("dataset", "algorithm", "alpha", "seed"),
)
