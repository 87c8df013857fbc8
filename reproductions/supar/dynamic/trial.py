"""A trial that trains a GPT while RigL or GMP changes its masks (Figure 12)."""

from __future__ import annotations

from harness.declare import Outcome, RunContext
from reproductions.supar.dynamic.experiment import DynamicPoint
from reproductions.supar.method.dynamic import Gmp, Rigl, UpdateSchedule, attach_full_masks
from reproductions.supar.method.masks import linear_layers
from reproductions.supar.models.gpt_trial import (
    adamw_of,
    finish,
    prepare,
    run_training,
    train_gpt,
)


def train_dynamic(params: DynamicPoint, ctx: RunContext) -> Outcome:
    """Train one net; one row with its losses, None where it diverged.

    The parameterization knows the final density alone, from the first step on: GMP starts dense
    with the initial variance and the learning rate of a sparse net.
    """
    if params.density == 1.0:
        # Nothing to drop: without masks both methods are plain training.
        return train_gpt(params, ctx)
    return (_train_rigl if params.method == "rigl" else _train_gmp)(params, ctx)


def _train_rigl(params: DynamicPoint, ctx: RunContext) -> Outcome:
    prepared = prepare(params, ctx, mask_density=params.density)
    optimizer = adamw_of(prepared)
    rigl = Rigl(
        model=prepared.model,
        optimizer=optimizer,
        schedule=_schedule(params),
        drop_fraction=params.drop_fraction,
        regrown_moments=params.regrown_moments,
    )
    return finish(prepared, run_training(prepared, optimizer, ctx, topology=rigl))


def _train_gmp(params: DynamicPoint, ctx: RunContext) -> Outcome:
    prepared = prepare(params, ctx, mask_density=1.0)
    attach_full_masks(prepared.model, linear_layers(prepared.model, exclude=()))
    optimizer = adamw_of(prepared)
    gmp = Gmp(
        model=prepared.model,
        optimizer=optimizer,
        schedule=_schedule(params),
        density=params.density,
    )
    return finish(prepared, run_training(prepared, optimizer, ctx, topology=gmp))


def _schedule(params: DynamicPoint) -> UpdateSchedule:
    return UpdateSchedule(
        num_steps=params.steps,
        interval=params.update_interval,
        end_step=params.last_update,
    )
