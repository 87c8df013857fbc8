"""A sweep of trials that cost nothing: what it takes is the harness's own time."""

from __future__ import annotations

import os
from collections.abc import Iterator

from harness.declare.experiment import Experiment, RawParams, Row, RunContext
from harness.declare.old import old_task
from harness.declare.table import Column, Table


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Return one row at once."""
    return [{"value": float(params["seed"])}]


def grid() -> Iterator[RawParams]:
    """Yield as many trials as the benchmark asks for."""
    for seed in range(int(os.environ.get("BENCH_TRIALS", "10"))):
        yield {"seed": seed}


task = old_task(
    id="sweep/abl_empty",
    title="Trials that cost nothing",
    reads=(Experiment(id="sweep/empty", version=1, run=run, grid={"smoke": grid}),),
    columns=Table(
        (
            Column(name="seed", type="int", role="seed", doc="number of the trial"),
            Column(name="value", type="float", role="value", doc="the same number"),
        )
    ),
)
