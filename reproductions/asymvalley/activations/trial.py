"""Hidden units that are on and off before and after a move through parameter space (Figure 28)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from harness.declare import Outcome, Row, RunContext
from reproductions.asymvalley.activations.experiment import PLACES, SHARES, Units
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.noise import draw_noise, sign_consistent
from reproductions.asymvalley.models.curve_rows import walk_through
from reproductions.asymvalley.models.kept_nets import NO_NET, kept_net
from reproductions.asymvalley.trained_nets.experiment import nets

MAX_IMAGES = 1000
"""Test images on which units are compared: their states at the start are kept in memory."""


def unit_rows(params: Units, ctx: RunContext) -> Outcome:
    """Compare the units at every lambda with those of the trained network."""
    net = kept_net(params, ctx, nets)
    if net is None:
        return NO_NET
    walk = walk_through(net.model, params, ctx)
    rows: list[Row] = []
    for draw in range(params.num_draws):
        noise_P = draw_noise("gaussian", walk.layout.size, seed=params.seed, draw=draw)
        eps_P = sign_consistent(noise_P.to(ctx.device), walk.weights_P)
        step_P = walk.step(eps_P, scale=1.0, norm="ns")
        for place, shares in agreement_along(walk, step_P, PLACES):
            error = walk.at(walk.weights_P + place * step_P).error
            rows.append({"draw": draw, "lambda": place, "error": error, **shares})
    return Outcome(rows=rows)


def agreement_along(
    walk: Walk, step_P: Tensor, places: Sequence[float]
) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield each lambda with the shares of units on and off before and after the move.

    The move is from theta_f to theta_f + lambda * step. A unit is one output of a ReLU for one
    image; it is on where it is positive. on_off: on at theta_f, off after the move. `agreement`
    is the trace of the two by two matrix.
    """
    images = walk.data.test_images[:MAX_IMAGES].split(walk.data.batch_size)
    before = [_states(walk.moved(walk.weights_P), batch) for batch in images]
    for place in places:
        model = walk.moved(walk.weights_P + place * step_P)
        counts = torch.zeros(4, dtype=torch.float64)
        for batch, kept in zip(images, before, strict=True):
            for was, now in zip(kept, _states(model, batch), strict=True):
                pairs = (was & now, was & ~now, ~was & now, ~was & ~now)
                counts += torch.tensor([int(pair.sum()) for pair in pairs])
        shares = dict(zip(SHARES, (counts / counts.sum()).tolist(), strict=True))
        yield place, {**shares, "agreement": shares["on_on"] + shares["off_off"]}


@torch.inference_mode()
def _states(model: nn.Module, images: Tensor) -> list[Tensor]:
    """Return which outputs of each ReLU are positive, one bool tensor per module call."""
    found: list[Tensor] = []
    units = [module for module in model.modules() if isinstance(module, nn.ReLU)]
    hooks = [unit.register_forward_hook(lambda *call: found.append(call[2] > 0)) for unit in units]
    try:
        model(images)
    finally:
        for hook in hooks:
            hook.remove()
    return found
