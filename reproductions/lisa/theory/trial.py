"""From the parameters of a convex trial to its rows."""

from __future__ import annotations

from typing import cast

import torch

from harness.declare.experiment import RawParams, Row, RunContext
from reproductions.lisa.method.lisa import Lisa, StatePolicy
from reproductions.lisa.theory.convex import (
    BlockedWeights,
    Descent,
    Problem,
    find_optimum,
    log_places,
    suboptimality,
)

PER_DECADE = 12


def convex_rows(params: RawParams, ctx: RunContext) -> list[Row]:
    """Train once; one row at each of some numbers of steps, evenly spaced in the logarithm."""
    arrays = ctx.dataset("digits").arrays
    x_ND = torch.tensor(arrays["x"], dtype=torch.float64).flatten(1) / 16.0
    sign_N = 1.0 - 2.0 * torch.tensor(arrays["y"] % 2, dtype=torch.float64)
    problem = Problem(x_ND=x_ND, sign_N=sign_N)
    descent = Descent(
        num_steps=int(params["steps"]),
        batch_size=int(params["batch_size"]),
        lr=float(params["lr"]),
        decay=float(params["decay"]),
        radius=float(params["radius"]),
    )
    optimum = find_optimum(problem, decay=descent.decay, batch_size=descent.batch_size)
    model = BlockedWeights(x_ND.shape[1], int(params["num_blocks"]))
    lisa = Lisa(
        model,
        gamma=int(params["gamma"]),
        period=int(params["period"]),
        seed=ctx.seed("layers"),
        policy=cast(StatePolicy, params["policy"]),
    )
    gaps = suboptimality(problem, optimum, lisa, descent, seed=ctx.seed("batches"))
    means = gaps.cumsum(0) / torch.arange(1, len(gaps) + 1)
    return [
        {
            "num_steps": place,
            "gap": float(gaps[place - 1]),
            "mean_gap": float(means[place - 1]),
            "optimum_gradient": optimum.gradient,
            "optimum_norm": float(torch.linalg.vector_norm(optimum.w_D)),
        }
        for place in log_places(descent.num_steps, PER_DECADE)
    ]
