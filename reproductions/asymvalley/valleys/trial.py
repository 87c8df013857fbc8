"""Rows of curves around a trained net, along noise and along directions made of its weights."""

from __future__ import annotations

import torch

from harness.declare import Outcome, Row, RunContext
from reproductions.asymvalley.method.noise import (
    draw_noise,
    partly_consistent,
    special_direction,
)
from reproductions.asymvalley.models.curve_rows import curve_rows, lambdas, noise_rows, walk_through
from reproductions.asymvalley.models.kept_nets import NO_NET, generator_of, kept_net, staged_net
from reproductions.asymvalley.models.pairs import SCALES
from reproductions.asymvalley.trained_nets.experiment import nets
from reproductions.asymvalley.valleys.experiment import (
    DirectionCurves,
    GroupCurves,
    NoiseCurves,
    RatioCurves,
)


def common_noise_rows(params: NoiseCurves, ctx: RunContext) -> Outcome:
    """Walk along one kind of noise through one network; raw and sign-consistent."""
    net = kept_net(params, ctx, nets)
    if net is None:
        return NO_NET
    walk = walk_through(net.model, params, ctx)
    rows: list[Row] = []
    for scale in SCALES:
        draws = params.draws_at(scale)
        rows += noise_rows(walk, params, params.noise, draws=draws, scale=scale, s=scale)
    return Outcome(rows=rows)


def direction_rows(params: DirectionCurves, ctx: RunContext) -> Outcome:
    """Walk along one direction at every scale."""
    net = kept_net(params, ctx, nets)
    if net is None:
        return NO_NET
    walk = walk_through(net.model, params, ctx)
    eps_P = special_direction(params.direction, walk.weights_P, net.initial_P, walk.layout)
    rows: list[Row] = []
    for scale in SCALES:
        step_P = walk.step(eps_P, scale=scale, norm="ns")
        rows += curve_rows(walk, step_P, lambdas(params.num_points), {"s": scale})
    return Outcome(rows=rows)


def ratio_rows(params: RatioCurves, ctx: RunContext) -> Outcome:
    """Walk along one draw at every ratio; the changed coordinates are nested."""
    net = kept_net(params, ctx, nets)
    if net is None:
        return NO_NET
    walk = walk_through(net.model, params, ctx)
    size = walk.layout.size
    noise_P = draw_noise("gaussian", size, seed=params.seed, draw=params.draw).to(ctx.device)
    generator = generator_of(ctx.seed(f"changed {params.draw}"))
    uniform_P = torch.rand(size, generator=generator).to(ctx.device)
    rows: list[Row] = []
    for ratio in lambdas(params.num_ratios, low=0.0):
        eps_P = partly_consistent(noise_P, walk.weights_P, uniform_P, ratio)
        step_P = walk.step(eps_P, scale=1.0, norm="ns")
        rows += curve_rows(walk, step_P, lambdas(params.num_points), {"ratio": ratio})
    return Outcome(rows=rows)


def group_rows(params: GroupCurves, ctx: RunContext) -> list[Row]:
    """Walk along Gaussian noise in one group, raw and with the signs of the weights."""
    net = staged_net(params, params.weights, ctx, generator=generator_of(0))
    walk = walk_through(net, params, ctx)
    return noise_rows(walk, params, "gaussian", draws=params.num_draws, group=params.group)
