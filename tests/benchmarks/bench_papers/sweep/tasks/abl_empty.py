"""A sweep of trials that cost nothing: what it takes is the harness's own time."""

from __future__ import annotations

import os
from collections.abc import Iterator

from harness.task import Column, Columns, Experiment, Params, Row, RunContext, Task


def run(params: Params, ctx: RunContext) -> list[Row]:
    """Return one row at once."""
    return [{"value": float(params["seed"])}]


def grid() -> Iterator[Params]:
    """Yield as many trials as the benchmark asks for."""
    for seed in range(int(os.environ.get("BENCH_TRIALS", "10"))):
        yield {"seed": seed}


task = Task(
    id="sweep/abl_empty",
    title="Trials that cost nothing",
    reads=(Experiment(id="sweep/empty", version=1, run=run, grid={"smoke": grid}),),
    columns=Columns(
        (
            Column(name="seed", type="int", role="seed", doc="number of the trial"),
            Column(name="value", type="float", role="value", doc="the same number"),
        )
    ),
)
