"""A trial of `supar/transfer`: train one net, and keep it."""

from __future__ import annotations

from harness.declare import Outcome, RunContext, Status
from reproductions.supar.models.gpt_trial import adamw_of, finish, prepare, run_training
from reproductions.supar.models.points import FixedPoint
from reproductions.supar.transfer.experiment import MODEL


def train_and_keep(params: FixedPoint, ctx: RunContext) -> Outcome:
    """Train one net and keep it as an artifact, unless it diverged."""
    prepared = prepare(params, ctx, mask_density=params.density)
    outcome = finish(prepared, run_training(prepared, adamw_of(prepared), ctx))
    if outcome.status is Status.DONE:
        ctx.save(MODEL, prepared.model.state_dict())
    return outcome
