"""A trial that trains a GPT while RigL or GMP changes its masks (Figure 12)."""

from __future__ import annotations

from harness.declare import Outcome, RunContext
from reproductions.supar.dynamic.experiment import DynamicPoint
from reproductions.supar.method.dynamic import Gmp, Rigl, UpdateSchedule, attach_full_masks
from reproductions.supar.method.masks import linear_layers
from reproductions.supar.models.gpt_trial import finish, prepare, run_training, train_gpt
from reproductions.supar.models.training import build_adamw


def train_dynamic(params: DynamicPoint, ctx: RunContext) -> Outcome:
    """Train one net; one row with its losses, None where it diverged.

    The parameterization knows the final density alone, from the first step on: GMP starts dense
    with the initial variance and the learning rate of a sparse net.
    """
    if params.density == 1.0:
        # Nothing to drop: without masks both methods are plain training.
        return train_gpt(params, ctx)
    is_gmp = params.method == "gmp"
    prepared = prepare(params, ctx, mask_density=1.0 if is_gmp else params.density)
    model = prepared.model
    if is_gmp:
        attach_full_masks(model, linear_layers(model, exclude=()))
    optimizer = build_adamw(model, prepared.parameterization)
    schedule = UpdateSchedule(
        num_steps=params.steps, interval=params.update_interval, end_step=params.last_update
    )
    topology: Rigl | Gmp
    if is_gmp:
        topology = Gmp(model=model, optimizer=optimizer, schedule=schedule, density=params.density)
    else:
        topology = Rigl(
            model=model, optimizer=optimizer, schedule=schedule,
            drop_fraction=params.drop_fraction, regrown_moments=params.regrown_moments,
        )  # fmt: skip
    return finish(prepared, run_training(prepared, optimizer, ctx, topology=topology))
