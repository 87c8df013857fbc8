"""From the parameters of an inner run to its rows, one per step that is looked at."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.func import grad_and_value

from harness.declare import Row, RunContext
from reproductions.fg2u.condensing.experiment import runs as condensations
from reproductions.fg2u.inner_run.experiment import LATER, InnerRun, images_of
from reproductions.fg2u.method.trees import norm
from reproductions.fg2u.models.condensation import (
    IMAGES,
    NET,
    condensation,
    inner_loss,
)
from reproductions.fg2u.models.draws import generator_of

STEPS = (0, 1, 10, 20, 50, 100, 200, 500, 1000, 2000)
"""At which the paper's curves were read."""


def inner_rows(params: InnerRun, ctx: RunContext) -> list[Row]:
    """Return loss and gradient norm before any step and after some."""
    images = ctx.upstream(condensations, images_of(params)).load(IMAGES)["images"]
    problem = condensation(params.num_steps)
    init = NET.drawn(generator_of(ctx, "inner run"))
    shown = {*STEPS, params.depth, LATER * params.depth, params.num_steps}
    rows: list[Row] = []
    with torch.no_grad():
        state = problem.start(images, {"init": init})
        for number in range(params.num_steps + 1):
            if number in shown:
                rows.append({"step": number, **_facts(state.params, images)})
            state = problem.step(state, images, None, number)
    return rows


def _facts(weights: list[Tensor], images: Tensor) -> dict[str, float]:
    gradient, loss = grad_and_value(inner_loss)(weights, images)
    return {"inner_loss": float(loss), "gradient_norm": float(norm(gradient))}
