"""What every experiment that trains a GPT declares alike: how it is run, needs and costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.declare.experiment import (
    Batch,
    DryRun,
    Estimate,
    Experiment,
    Grid,
    RawParams,
    RunContext,
    RunFunction,
)
from harness.declare.profiles import Profile
from reproductions.supar.models.costs import estimate_of, needs_of

if TYPE_CHECKING:
    from harness.declare.experiment import Outcome

SWEPT_LR = ("scheme", "density", "log2_lr", "seed")
"""What tells the trials of a sweep of learning rates apart."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Train one net with static masks; one row with its losses, None where it diverged."""
    from reproductions.supar.models.gpt_trial import train_gpt

    return train_gpt(params, ctx)


def gpt_experiment(
    id: str,
    *,
    version: int,
    grid: Mapping[Profile, Grid],
    address: tuple[str, ...],
    run: RunFunction = run,
    batch: Batch | None = None,
) -> Experiment:
    """Return an experiment whose trials train a GPT, one row each."""
    return Experiment(
        id=id,
        version=version,
        run=run,
        grid=grid,
        seed_from=("seed",),
        batch=batch,
        needs=needs_of,
        estimate=estimate,
        dry_run=dry_run,
        timeout_s=24 * 3600.0,
        address=address,
    )


def estimate(params: RawParams) -> Estimate:
    """Return what a trial costs: forward and backward."""
    return estimate_of(params, num_passes=3.0)


def dry_run(params: RawParams) -> DryRun:
    """Build and count the trial's net without computing it."""
    from reproductions.supar.models.gpt_trial import dry_run as dry_run_gpt

    return dry_run_gpt(params)
