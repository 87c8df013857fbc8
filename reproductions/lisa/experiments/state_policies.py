"""What the optimizer holds after ten periods, by what happens to the states of frozen blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext
from harness.declare.params import Scalar

POLICIES = ("drop_refrozen", "keep_all", "reset_all")
NUM_PERIODS = 10
"""As many as the paper's K = 13 gives in its 122 steps."""


def run(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Train for ten periods; one row a period."""
    from reproductions.lisa.memory_trial import policy_rows

    return policy_rows(params, ctx)


def estimate(params: RawParams) -> Estimate:
    """Return a start and the steps of ten short periods."""
    return Estimate(seconds=5.0 + 0.3 * int(params["num_periods"]), memory_bytes=2**31)


def grid(shape: str, gamma: int, num_seeds: int) -> Iterator[RawParams]:
    """Yield every policy on a model of small blocks, with some draws of layers."""
    step: dict[str, Scalar] = {"seq_len": 8, "batch_size": 1, "dtype": "float32"}
    model: dict[str, Scalar] = {"shape": shape, "gamma": gamma, "num_periods": NUM_PERIODS}
    for policy in POLICIES:
        for seed in range(num_seeds):
            yield {**model, "policy": policy, "seed": seed, **step}


def smoke_grid() -> Iterator[RawParams]:
    """Yield eight blocks, one at a time, with one draw."""
    return grid("tiny-smoke", 1, num_seeds=1)


def cpu_grid() -> Iterator[RawParams]:
    """Yield 32 blocks, two at a time, with three draws."""
    return grid("tiny-deep", 2, num_seeds=3)


experiment = Experiment(
    id="lisa/state_policies",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    needs=Needs(memory_bytes=2**31, packages=("transformers",)),
    estimate=estimate,
    address=("policy", "seed"),
)
