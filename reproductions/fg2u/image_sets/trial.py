"""From the parameters of a set of images to its row: condensed, kept, and evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch
from torch import Tensor

from harness.declare import Outcome, Row, RunContext, Status
from harness.errors import RunError
from reproductions.fg2u.image_sets.data import (
    Labelled,
    digits_of,
    real_images,
    splits_of,
)
from reproductions.fg2u.image_sets.experiment import (
    KEPT,
    Alignment,
    Continuation,
    estimator,
    runs,
)
from reproductions.fg2u.image_sets.params import Condensation, Method, images_of, taken_by
from reproductions.fg2u.image_sets.problem import (
    Given,
    accuracies,
    batches,
    condensation,
    falling_adam,
    right_share,
    trained_on_all,
)
from reproductions.fg2u.method.descent import Phase, descend
from reproductions.fg2u.method.noise import directions_for
from reproductions.fg2u.method.trees import norm
from reproductions.fg2u.models.draws import generator_of

IMAGES = "images.safetensors"
"""The artifact that holds condensed images, under `images`."""
LAST = 0.1
"""Share of the outer steps over which the outer loss is averaged."""
DRAWN = 10
"""Images that a row shows, one for each of the first classes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Descent:
    """What a descent came to."""

    outer_loss: float | None
    peak_bytes: int | None
    seconds: float


AT_REST = Descent(outer_loss=None, peak_bytes=None, seconds=0.0)


def condensed_rows(params: Condensation, ctx: RunContext) -> Outcome:
    """Condense from noise, or take what needs no condensing."""
    splits = splits_of(params, ctx)
    if params.method == "whole":
        init, drawn = generator_of(ctx, "init"), generator_of(ctx, "batches")
        share = right_share(params, trained_on_all(params, splits.train, init, drawn), splits.test)
        return Outcome(rows=[_row(params, splits.train, AT_REST) | _scores([share])])
    if params.method == "real":
        images = real_images(params, splits.train, generator_of(ctx, "images"))
    else:
        images = noise(params, generator_of(ctx, "images"))
    return _finished(params, ctx, images.to(params.device), splits.train, splits.test)


def continued_rows(params: Continuation, ctx: RunContext) -> Outcome:
    """Go on from the images of the first phase."""
    splits = splits_of(params, ctx)
    images = ctx.upstream(runs, params.first()).load(IMAGES)["images"].to(params.device)
    return _finished(params, ctx, images, splits.train, splits.test)


def noise(params: Condensation, generator: torch.Generator) -> Tensor:
    """Draw images of uniform noise, as the released script of (FG)2U starts from."""
    size = params.image_size
    return torch.rand(params.num_images, params.channels, size, size, generator=generator)


def _finished(
    params: Condensation, ctx: RunContext, images: Tensor, train: Labelled, test: Labelled
) -> Outcome:
    """Descend where steps are asked for; keep the images, and evaluate them."""
    try:
        done = descended(params, ctx, images, train) if params.steps else AT_REST
    except RunError as error:
        return Outcome(
            rows=[_row(params, train, AT_REST) | _scores([])],
            status=Status.DIVERGED,
            note=f"{params.method}: {error}",
        )
    ctx.save(IMAGES, {"images": images.cpu()})
    found = accuracies(params, images, test, generator_of(ctx, "evaluation"))
    row = _row(params, train, done)
    return Outcome(rows=[row | _scores(found) | {"pixels": digits_of(images[:DRAWN])}])


def descended(params: Condensation, ctx: RunContext, images: Tensor, train: Labelled) -> Descent:
    """Descend from images, which are changed; a second phase has nets and batches of its own."""
    stream = "second " if isinstance(params, Continuation) else ""
    method, problem = estimator(params), condensation(params, num_steps=params.depth)
    counted = next(_supply(params, ctx, train, "counted "))
    peak_bytes = method.peak_bytes(
        problem, images, counted, generator_of(ctx, "counted directions")
    )
    taken = []
    for step in descend(
        problem,
        images,
        _supply(params, ctx, train, stream),
        [Phase(method=method, num_steps=params.steps, lr=params.lr)],
        generator=generator_of(ctx, f"{stream}directions"),
        accumulate=params.accumulate,
        optimizer=falling_adam(params.steps),
    ):
        # Pixels stay pixels, as in the released script.
        images.clamp_(0.0, 1.0)
        taken.append(step)
    last = taken[-max(1, int(LAST * len(taken))) :]
    return Descent(
        outer_loss=fmean(step.outer_value for step in last),
        peak_bytes=peak_bytes,
        seconds=sum(step.seconds for step in taken),
    )


def _supply(params: Condensation, ctx: RunContext, train: Labelled, stream: str) -> Iterator[Given]:
    init, drawn = generator_of(ctx, f"{stream}init"), generator_of(ctx, f"{stream}batches")
    return batches(params, train, init, drawn)


def _row(params: Condensation, train: Labelled, done: Descent) -> dict[str, float | int | None]:
    share = params.num_images / len(train.labels) if params.ipc else 1.0
    return {
        "ratio": share,
        "outer_loss": done.outer_loss,
        "peak_bytes": done.peak_bytes,
        "estimates_s": done.seconds,
    }


def _scores(found: Sequence[float]) -> dict[str, float | str | None]:
    """Return the mean and the standard deviation over nets; None where there is none."""
    several = torch.tensor(found, dtype=torch.float64)
    return {
        "test_accuracy": float(several.mean()) if found else None,
        "accuracy_sd": float(several.std()) if len(found) > 1 else None,
        "pixels": "",
    }


def alignment_rows(params: Alignment, ctx: RunContext) -> list[Row]:
    """Return every method's cosine with the exact gradient on kept images, mean over draws."""
    splits = splits_of(params, ctx)
    images = ctx.upstream(runs, images_of(params)).load(IMAGES)["images"].to(params.device)
    problem = condensation(params, num_steps=params.depth)
    several = {name: estimator(one) for name, one in _compared(params)}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in several}
    supply = _supply(params, ctx, splits.train, "alignment ")
    directions = generator_of(ctx, "alignment directions")
    for _ in range(params.num_draws):
        given: Given = next(supply)
        exact = estimator(replace(params, method="rgu"))(problem, images, given).grad
        for name, method in several.items():
            grad = method(problem, images, given, directions).grad
            size = norm(grad)
            cosine = float((grad * exact).sum() / (size * norm(exact)))
            found[name].append((cosine, float(size / norm(exact))))
    return [
        {
            "estimate": name,
            "cosine": (mean := fmean(cosine for cosine, _ in pairs)),
            "norm_ratio": fmean(ratio for _, ratio in pairs),
            "equal_directions": directions_for(mean, images.numel()),
        }
        for name, pairs in found.items()
    ]


def _compared(params: Alignment) -> list[tuple[str, Condensation]]:
    """Return what is set against the exact gradient: TRGU of some lengths, and the others."""
    others: tuple[Method, ...] = ("hessian-free", "neumann", "fg2u")
    kept = [k for k in KEPT if k < params.depth] or [1]
    several: list[tuple[str, Condensation]] = [
        (f"trgu {k}", replace(params, method="trgu", keep=k)) for k in kept
    ]
    for method in others:
        several.append((method, taken_by(params, method)))
    return several
