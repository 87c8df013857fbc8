"""A sweep of trials that cost nothing: what it takes is the harness's own time."""

from __future__ import annotations

import os
from collections.abc import Iterator

from harness.declare import (
    Experiment,
    Params,
    Profile,
    Row,
    RunContext,
    Table,
    Task,
    seed,
    value,
)


class Number(Params):
    """One of many trials."""

    seed: int = seed("Number of the trial.")


def run(number: Number, ctx: RunContext) -> list[Row]:
    """Return one row at once."""
    return [{"value": float(number.seed)}]


def grid(profile: Profile) -> Iterator[Number]:
    """Yield as many trials as the benchmark asks for."""
    if profile in ("smoke", "cpu"):
        for number in range(int(os.environ.get("BENCH_TRIALS", "10"))):
            yield Number(seed=number)


empty = Experiment("sweep/empty", version=1, params=Number, grid=grid, run="abl_empty:run")
task = Task(
    "sweep/abl_empty",
    reads=(empty,),
    table=Table.of(Number, value("value", float, "The same number.")),
)
