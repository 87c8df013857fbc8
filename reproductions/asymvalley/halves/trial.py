"""Two networks trained on two halves of the data, and the line between them (section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from harness.declare.experiment import Outcome, RawParams, Row, RunContext, Status
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.interpolation import between
from reproductions.asymvalley.method.layout import parameters_vector, same_sign_ratio
from reproductions.asymvalley.models.curve_rows import lambdas, statistics_of
from reproductions.asymvalley.models.images import Images, images_of
from reproductions.asymvalley.models.kept_nets import generator_of, settings_of, start_of
from reproductions.asymvalley.models.staged import load_pretrained
from reproductions.asymvalley.models.training import TrainingImages, train


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Half:
    """What training on one half left behind."""

    checkpoints: dict[int, Tensor]
    """Epoch -> parameters, shape (P,)."""


def run_halves(params: RawParams, ctx: RunContext) -> Outcome:
    """Train both halves from one start; rows of every kept epoch and its line."""
    images = images_of(params, ctx)
    start = _start(params, ctx)
    epochs = [int(epoch) for epoch in str(params["checkpoints"]).split()]
    halves = [_train_half(params, ctx, start, images, half, epochs) for half in (0, 1)]
    if any(half is None for half in halves):
        return Outcome(rows=[], status=Status.DIVERGED, note="the loss of a half is not finite")
    first, second = (half.checkpoints for half in halves if half is not None)
    walk = Walk(start, images.valley_data(), bn_stats=statistics_of(params))
    places = lambdas(int(params["num_points"]), low=0.0)
    rows: list[Row] = []
    for epoch in epochs:
        rows += _epoch_rows(walk, epoch, first[epoch], second[epoch], places)
    return Outcome(rows=rows)


def _start(params: RawParams, ctx: RunContext) -> nn.Module:
    if params["pretrained"]:
        return load_pretrained(params, ctx, head=generator_of(ctx.seed("init")))
    return start_of(params, ctx)


def _train_half(
    params: RawParams,
    ctx: RunContext,
    start: nn.Module,
    images: Images,
    half: int,
    epochs: Sequence[int],
) -> Half | None:
    """Train a copy of the start on one half; None where its loss is no longer finite."""
    import copy

    order = torch.randperm(len(images.train_y), generator=generator_of(ctx.seed("halves")))
    picked = order[half::2].to(images.train_y.device)
    data = TrainingImages(images=images.train_x[picked], labels=images.train_y[picked])
    model = copy.deepcopy(start)
    kept: dict[int, Tensor] = {}

    def keep(epoch: int) -> None:
        if epoch in epochs:
            kept[epoch] = parameters_vector(model)

    finite = train(
        model,
        data,
        settings_of(params),
        generator=generator_of(ctx.seed(f"batches of half {half}")),
        after_epoch=keep,
    )
    return Half(checkpoints=kept) if finite else None


def _epoch_rows(
    walk: Walk, epoch: int, first_P: Tensor, second_P: Tensor, places: Sequence[float]
) -> list[Row]:
    """Return the line between the halves after an epoch, and its summary."""
    blank = dict.fromkeys(("accuracy_a", "accuracy_b", "accuracy_mid", "gap"))
    blank |= dict.fromkeys(("ssr_ia", "ssr_ib", "ssr_ab"))
    accuracy = {place: 1.0 - walk.at(between(first_P, second_P, place)).error for place in places}
    rows: list[Row] = [
        {"part": "line", "epoch": epoch, "x": place, "accuracy": value, **blank}
        for place, value in accuracy.items()
    ]
    summary: Row = {
        "part": "epoch",
        "epoch": epoch,
        "x": 0.0,
        "accuracy": None,
        "accuracy_a": accuracy[0.0],
        "accuracy_b": accuracy[1.0],
        "accuracy_mid": accuracy[0.5],
        "gap": accuracy[0.5] - (accuracy[0.0] + accuracy[1.0]) / 2.0,
        "ssr_ia": same_sign_ratio(walk.weights_P, first_P),
        "ssr_ib": same_sign_ratio(walk.weights_P, second_P),
        "ssr_ab": same_sign_ratio(first_P, second_P),
    }
    return [*rows, summary]
