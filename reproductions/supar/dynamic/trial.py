"""A trial that trains a GPT while RigL or GMP changes its masks (Figure 12)."""

from __future__ import annotations

from typing import Any

from harness.declare.experiment import Outcome, RawParams, RunContext
from harness.errors import SpecError
from reproductions.supar.method.dynamic import Gmp, Rigl, UpdateSchedule, attach_full_masks
from reproductions.supar.method.masks import linear_layers
from reproductions.supar.models.gpt_trial import (
    Prepared,
    adamw_of,
    finish,
    prepare,
    run_training,
    train_gpt,
)


def train_dynamic(params: RawParams, ctx: RunContext) -> Outcome:
    """Train one net; one row with its losses, None where it diverged.

    The parameterization knows the final density alone, from the first step on: GMP starts dense
    with the initial variance and the learning rate of a sparse net.
    """
    if float(params["density"]) == 1.0:
        # Nothing to drop: without masks both methods are plain training.
        return train_gpt(params, ctx)
    if params["method"] == "rigl":
        return _train_rigl(params, ctx)
    if params["method"] == "gmp":
        return _train_gmp(params, ctx)
    raise SpecError(f"method={params['method']!r}: need 'rigl' or 'gmp'")


def _train_rigl(params: RawParams, ctx: RunContext) -> Outcome:
    prepared = prepare(params, ctx, mask_density=float(params["density"]))
    optimizer = adamw_of(prepared)
    regrown_moments: Any = params["regrown_moments"]
    rigl = Rigl(
        model=prepared.model,
        optimizer=optimizer,
        schedule=_schedule(params, prepared),
        drop_fraction=float(params["drop_fraction"]),
        regrown_moments=regrown_moments,
    )
    return finish(prepared, run_training(prepared, optimizer, ctx, topology=rigl))


def _train_gmp(params: RawParams, ctx: RunContext) -> Outcome:
    prepared = prepare(params, ctx, mask_density=1.0)
    attach_full_masks(prepared.model, linear_layers(prepared.model, exclude=()))
    optimizer = adamw_of(prepared)
    gmp = Gmp(
        model=prepared.model,
        optimizer=optimizer,
        schedule=_schedule(params, prepared),
        density=float(params["density"]),
    )
    return finish(prepared, run_training(prepared, optimizer, ctx, topology=gmp))


def _schedule(params: RawParams, prepared: Prepared) -> UpdateSchedule:
    return UpdateSchedule(
        num_steps=prepared.settings.num_steps,
        interval=int(params["update_interval"]),
        end_step=int(params["last_update"]),
    )
