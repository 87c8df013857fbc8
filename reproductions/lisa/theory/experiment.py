"""LISA on logistic regression in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext
from harness.declare.params import Scalar
from reproductions.lisa.memory.experiment import Policy

Point = dict[str, Scalar]

DECAYS = (0.1, 0.01)
SHAPE: Point = {
    "num_blocks": 8,
    "gamma": 2,
    "period": 13,
    "batch_size": 32,
    "lr": 0.1,
    "radius": 50.0,
}
"""The period is the paper's; the ball holds both optima."""


def run(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Train once."""
    from reproductions.lisa.theory.trial import convex_rows

    return convex_rows(params, ctx)


def estimate(params: RawParams) -> Estimate:
    """Return a time that grows with the steps."""
    return Estimate(seconds=3.0 + 8e-4 * int(params["steps"]), memory_bytes=2**30)


def grid(steps: int, num_seeds: int) -> Iterator[RawParams]:
    """Yield every policy and decay."""
    for policy in get_args(Policy):
        for decay in DECAYS:
            for seed in range(num_seeds):
                yield {"policy": policy, "decay": decay, "seed": seed, "steps": steps, **SHAPE}


def smoke_grid() -> Iterator[RawParams]:
    """Yield a few steps."""
    return grid(steps=60, num_seeds=1)


def cpu_grid() -> Iterator[RawParams]:
    """Yield enough steps for a decade that has forgotten the start."""
    return grid(steps=20_000, num_seeds=5)


experiment = Experiment(
    id="lisa/convex",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=Needs(data=("digits",)),
    estimate=estimate,
    address=("policy", "decay", "seed"),
)
