"""From the parameters of a condensation to its rows, one per evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from reproductions.fg2u.condensing.experiment import Condensation, schedule
from reproductions.fg2u.method.descent import OuterStep, Phase, descend
from reproductions.fg2u.models.condensation import (
    IMAGES,
    NET,
    Digits,
    accuracies,
    condensation,
    outer_batches,
    split_digits,
)
from reproductions.fg2u.models.draws import generator_of

SIDE = 8


def condensing_rows(params: Condensation, ctx: RunContext) -> list[Row]:
    """Condense from noise; keep the images, and evaluate them every so many outer steps.

    The first row is of the noise itself.
    """
    train, test = split_digits(ctx)
    images = torch.rand(10, SIDE, SIDE, generator=generator_of(ctx, "images"))
    phases = schedule(params)
    peaks = [_peak_bytes(phase, images, train, params, ctx) for phase in phases]
    rows: list[Row] = [{**_noise_row(peaks[0]), **_scores(images, test, params, ctx)}]
    taken: list[OuterStep] = []
    for step in descend(
        condensation(params.depth),
        images,
        outer_batches(ctx, train, params.batch_size),
        phases,
        generator=generator_of(ctx, "directions"),
    ):
        # Pixels stay pixels, as in the released script.
        images.clamp_(0.0, 1.0)
        taken.append(step)
        if len(taken) % params.log_every == 0:
            row = _row(taken, peaks[step.phase], last=params.log_every)
            rows.append({**row, **_scores(images, test, params, ctx)})
    ctx.save(IMAGES, {"images": images})
    return rows


def _peak_bytes(
    phase: Phase, images: Tensor, train: Digits, params: Condensation, ctx: RunContext
) -> int:
    """Count one estimate, of its own streams: it takes nothing from those of the run."""
    batch = next(outer_batches(ctx, train, params.batch_size))
    directions = generator_of(ctx, "counted directions")
    return phase.method.peak_bytes(condensation(params.depth), images, batch, directions)


def _noise_row(peak_bytes: int) -> dict[str, float | int | None]:
    return {"outer_step": 0, "outer_loss": None, "peak_bytes": peak_bytes, "estimates_s": 0.0}


def _row(
    taken: Sequence[OuterStep], peak_bytes: int, *, last: int
) -> dict[str, float | int | None]:
    return {
        "outer_step": len(taken),
        "outer_loss": fmean(step.outer_value for step in taken[-last:]),
        "peak_bytes": peak_bytes,
        "estimates_s": sum(step.seconds for step in taken),
    }


def _scores(
    images: Tensor, test: Digits, params: Condensation, ctx: RunContext
) -> dict[str, float]:
    """Train fresh nets, the same at each evaluation, and return their accuracy's mean and SD."""
    init = NET.drawn(generator_of(ctx, "evaluation"), params.num_nets)
    found = accuracies(images, test, init, num_steps=params.test_steps)
    return {"test_accuracy": float(found.mean()), "accuracy_sd": float(found.std())}
