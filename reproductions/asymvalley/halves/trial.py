"""Two networks trained on two halves of the data, and the line between them (section 6.1)."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from harness.declare import Outcome, Row, RunContext, Status
from reproductions.asymvalley.halves.experiment import Halves
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.interpolation import between
from reproductions.asymvalley.method.layout import parameters_vector, same_sign_ratio
from reproductions.asymvalley.models.curve_rows import lambdas, statistics_of
from reproductions.asymvalley.models.images import Images, images_of
from reproductions.asymvalley.models.kept_nets import generator_of, staged_net, start_of
from reproductions.asymvalley.models.training import train


def half_rows(params: Halves, ctx: RunContext) -> Outcome:
    """Train both halves from one start; rows of every kept epoch and its line."""
    images = images_of(params, ctx)
    start = _start(params, ctx)
    halves = [_train_half(params, ctx, start, images, half) for half in (0, 1)]
    if any(half is None for half in halves):
        return Outcome(rows=[], status=Status.DIVERGED, note="the loss of a half is not finite")
    first, second = (half for half in halves if half is not None)
    walk = Walk(start, images.valley_data(), bn_stats=statistics_of(params))
    places = lambdas(params.num_points, low=0.0)
    rows: list[Row] = []
    for epoch in params.epochs_kept:
        rows += _epoch_rows(walk, epoch, first[epoch], second[epoch], places)
    return Outcome(rows=rows)


def _start(params: Halves, ctx: RunContext) -> nn.Module:
    if params.pretrained:
        head = generator_of(ctx.seed("init"))
        return staged_net(params, params.weights, ctx, generator=head)
    return start_of(params, ctx)


def _train_half(
    params: Halves, ctx: RunContext, start: nn.Module, images: Images, half: int
) -> dict[int, Tensor] | None:
    """Train a copy of the start on one half.

    Returns its parameters by kept epoch, shape (P,); None where its loss is no longer finite.
    """
    order = torch.randperm(len(images.train_y), generator=generator_of(ctx.seed("halves")))
    picked = order[half::2].to(images.train_y.device)
    model = copy.deepcopy(start)
    kept: dict[int, Tensor] = {}

    def keep(epoch: int) -> None:
        if epoch in params.epochs_kept:
            kept[epoch] = parameters_vector(model)

    finite = train(
        model,
        images.train_x[picked],
        images.train_y[picked],
        params,
        generator=generator_of(ctx.seed(f"batches of half {half}")),
        after_epoch=keep,
    )
    return kept if finite else None


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
