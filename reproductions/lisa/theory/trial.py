"""From the parameters of a convex trial to its rows."""

from __future__ import annotations

import torch

from harness.declare import Row, RunContext
from reproductions.lisa.method.lisa import Lisa
from reproductions.lisa.theory.convex import (
    BlockedWeights,
    Problem,
    find_optimum,
    log_places,
    suboptimality,
)
from reproductions.lisa.theory.experiment import Run

PER_DECADE = 12


def convex_rows(params: Run, ctx: RunContext) -> list[Row]:
    """Train once; one row at each of some numbers of steps, evenly spaced in the logarithm."""
    arrays = ctx.dataset("digits").arrays
    x_ND = torch.tensor(arrays["x"], dtype=torch.float64).flatten(1) / 16.0
    sign_N = 1.0 - 2.0 * torch.tensor(arrays["y"] % 2, dtype=torch.float64)
    problem = Problem(x_ND=x_ND, sign_N=sign_N)
    optimum = find_optimum(problem, decay=params.decay, batch_size=params.batch_size)
    lisa = Lisa(
        BlockedWeights(x_ND.shape[1], params.num_blocks),
        gamma=params.gamma,
        period=params.period,
        seed=ctx.seed("layers"),
        policy=params.policy,
    )
    gaps = suboptimality(problem, optimum, lisa, params, seed=ctx.seed("batches"))
    means = gaps.cumsum(0) / torch.arange(1, len(gaps) + 1)
    return [
        {
            "num_steps": place,
            "gap": float(gaps[place - 1]),
            "mean_gap": float(means[place - 1]),
            "optimum_gradient": optimum.gradient,
            "optimum_norm": float(torch.linalg.vector_norm(optimum.w_D)),
        }
        for place in log_places(params.steps, PER_DECADE)
    ]
