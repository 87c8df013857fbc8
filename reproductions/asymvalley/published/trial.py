"""Rows of curves through published nets, with the cross-entropy at the best temperature."""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from harness.declare import Row, RunContext
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.data import logits
from reproductions.asymvalley.method.directions import NOISES, Direction
from reproductions.asymvalley.method.layout import same_sign_ratio
from reproductions.asymvalley.method.noise import (
    draw_noise,
    partly_consistent,
    special_direction,
)
from reproductions.asymvalley.models.curve_rows import finite, lambdas, walk_through
from reproductions.asymvalley.models.kept_nets import generator_of, staged_net
from reproductions.asymvalley.published.experiment import PublishedCurves

LOG_TEMPERATURES = torch.linspace(-3.0, 7.0, 201)
"""Natural logarithms, in steps of a twentieth."""


def curve_rows(params: PublishedCurves, ctx: RunContext) -> list[Row]:
    """Walk along one draw of a noise at every ratio, or along one direction."""
    net = staged_net(params, params.weights, ctx, generator=generator_of(0))
    walk = walk_through(net, params, ctx)
    centre = point_row(walk, walk.weights_P)
    rows: list[Row] = []
    for ratio, eps_P in directions_of(params, ctx, walk):
        step_P = walk.step(eps_P, scale=1.0, norm="ns")
        agree = same_sign_ratio(step_P, walk.weights_P)
        for place in lambdas(params.num_points):
            point = point_row(walk, walk.weights_P + place * step_P) if place else centre
            rows.append({"ratio": ratio, "lambda": place, **point, "sign_consistency": agree})
    return rows


def directions_of(
    params: PublishedCurves, ctx: RunContext, walk: Walk
) -> list[tuple[float, Tensor]]:
    """Return each ratio with its noise, shape (P,); a direction has a ratio of 0."""
    weights_P, size = walk.weights_P, walk.layout.size
    if params.along not in NOISES:
        made = cast(Direction, params.along)
        return [(0.0, special_direction(made, weights_P, weights_P, walk.layout))]
    noise_P = draw_noise(params.along, size, seed=params.seed, draw=0).to(ctx.device)
    uniform_P = torch.rand(size, generator=generator_of(ctx.seed("changed"))).to(ctx.device)
    return [
        (ratio, partly_consistent(noise_P, weights_P, uniform_P, ratio))
        for ratio in lambdas(params.num_ratios, low=0.0)
    ]


@torch.inference_mode()
def point_row(walk: Walk, vector_P: Tensor) -> Row:
    """Return error and both cross-entropies at a parameter vector, shape (P,)."""
    model, data = walk.moved(vector_P), walk.data
    batches = torch.split(data.test_images, data.batch_size)
    found = [logits(model, images, num_classes=data.num_classes) for images in batches]
    logits_NC = torch.cat(found).double()
    labels_N = data.test_labels.to(logits_NC.device)
    right_N = (logits_NC.argmax(dim=1) == labels_N) & logits_NC.isfinite().all(dim=1)
    return {
        "error": 1.0 - float(right_N.double().mean()),
        "ce": finite(float(F.cross_entropy(logits_NC, labels_N))),
        "scaled_ce": finite(scaled_cross_entropy(logits_NC, labels_N)),
    }


def scaled_cross_entropy(logits_NC: Tensor, labels_N: Tensor) -> float:
    """Return the least mean cross-entropy in nats over one temperature of all logits.

    So a net whose logits are all twice as large has the same.
    """
    values = [
        float(F.cross_entropy(logits_NC / temperature, labels_N))
        for temperature in LOG_TEMPERATURES.exp().tolist()
    ]
    return min(values)
