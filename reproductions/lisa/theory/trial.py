"""LISA on a convex problem: Theorem 1's setting (arXiv 2403.17919, section 3.3).

f is logistic regression, smooth and convex, its weights cut into blocks. AdamW's fixed point solves
another problem than f: where m = grad f and v = E[g^2], its step vanishes at

    grad f(w) + S w = 0   with   S = decay * diag(sqrt(v)),

so it minimises f_reg(w) = f(w) + w^T S w / 2, the S of the theorem being this one, taken at the
fixed point itself. Letters: N samples, D features, B samples of a batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from harness.declare import Row, RunContext
from harness.errors import RunError, SpecError
from reproductions.lisa.method.lisa import Lisa
from reproductions.lisa.theory.experiment import Run

PER_DECADE = 12
_NEWTON_STEPS, _FIXED_POINT_STEPS = 100, 200
_GRADIENT_NORM = 1e-10


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Logistic regression in float64 without an intercept."""

    x_ND: Tensor
    sign_N: Tensor
    """Class of each sample, -1 or 1."""

    def losses(self, w_D: Tensor) -> Tensor:
        """Return each sample's loss, shape (N,)."""
        return nn.functional.softplus(-self.sign_N * (self.x_ND @ w_D))

    def gradients(self, w_D: Tensor) -> Tensor:
        """Return each sample's gradient, shape (N, D)."""
        pull_N = torch.sigmoid(-self.sign_N * (self.x_ND @ w_D))
        return -(self.sign_N * pull_N)[:, None] * self.x_ND

    def hessian(self, w_D: Tensor) -> Tensor:
        """Return the Hessian of the mean loss, shape (D, D)."""
        p_N = torch.sigmoid(self.x_ND @ w_D)
        return (self.x_ND * (p_N * (1.0 - p_N))[:, None]).T @ self.x_ND / len(self.x_ND)


@dataclass(frozen=True, kw_only=True, slots=True)
class Optimum:
    """Where AdamW's step vanishes, and the problem that is solved there."""

    w_D: Tensor
    penalty_D: Tensor
    """Diagonal of S."""
    value: float
    """f_reg at the optimum."""
    gradient: float
    """Largest entry of f_reg's gradient there."""


def regularised(problem: Problem, w_D: Tensor, penalty_D: Tensor) -> float:
    """Return f_reg at a point."""
    return float(problem.losses(w_D).mean() + 0.5 * (penalty_D * w_D.square()).sum())


def find_optimum(problem: Problem, *, decay: float, batch_size: int) -> Optimum:
    """Return the fixed point of AdamW with this decay, by Newton's method between updates of S.

    v is a batch's second moment, (mean g)^2 + Var(g) / B, for batches drawn with replacement.
    Raises SpecError without decay, as there may be no optimum then, and RunError where the fixed
    point is not reached.
    """
    if not decay > 0.0:
        raise SpecError(f"decay={decay}: only with a decay has every problem an optimum")
    w_D = torch.zeros(problem.x_ND.shape[1], dtype=torch.float64)
    penalty_D = torch.zeros_like(w_D)
    for _ in range(_FIXED_POINT_STEPS):
        samples_ND = problem.gradients(w_D)
        moment_D = samples_ND.mean(0).square() + samples_ND.var(0, correction=0) / batch_size
        before_D, penalty_D = penalty_D, decay * moment_D.sqrt()
        w_D = _newton(problem, penalty_D, w_D)
        if float((penalty_D - before_D).abs().max()) < _GRADIENT_NORM:
            gradient = float(_gradient(problem, w_D, penalty_D).abs().max())
            value = regularised(problem, w_D, penalty_D)
            return Optimum(w_D=w_D, penalty_D=penalty_D, value=value, gradient=gradient)
    raise RunError(f"AdamW's fixed point with decay {decay} was not found: raise the decay")


def _gradient(problem: Problem, w_D: Tensor, penalty_D: Tensor) -> Tensor:
    return problem.gradients(w_D).mean(0) + penalty_D * w_D


def _newton(problem: Problem, penalty_D: Tensor, w_D: Tensor) -> Tensor:
    """Return the minimum of f + w^T S w / 2 from a start; steps are halved until they help."""
    # Features that are always 0 have neither gradient nor curvature: any small one will do.
    ridge_DD = 1e-12 * torch.eye(len(w_D), dtype=w_D.dtype)
    for _ in range(_NEWTON_STEPS):
        gradient_D = _gradient(problem, w_D, penalty_D)
        if float(gradient_D.abs().max()) < _GRADIENT_NORM:
            return w_D
        step_D = torch.linalg.solve(
            problem.hessian(w_D) + torch.diag(penalty_D) + ridge_DD, gradient_D
        )
        size, now = 1.0, regularised(problem, w_D, penalty_D)
        while size > 1e-6 and regularised(problem, w_D - size * step_D, penalty_D) > now:
            size /= 2
        w_D = w_D - size * step_D
    raise RunError("Newton's method does not converge on the convex problem: raise the decay")


class BlockedWeights(nn.Module):
    """One vector of weights in equal blocks, all of them zero at the start."""

    def __init__(self, num_features: int, num_blocks: int) -> None:
        super().__init__()
        sizes = [len(part) for part in torch.arange(num_features).tensor_split(num_blocks)]
        self.blocks = nn.ModuleList(nn.ParameterList([_zeros(size)]) for size in sizes)

    def vector(self) -> Tensor:
        """Return all weights, shape (D,)."""
        return torch.cat([block[0] for block in self.blocks])  # type: ignore[index]

    @torch.no_grad()
    def project(self, radius: float) -> None:
        """Move the weights to the nearest point of a ball."""
        norm = torch.linalg.vector_norm(self.vector())
        if norm > radius:
            for parameter in self.parameters():
                parameter.mul_(radius / norm)


def _zeros(size: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(size, dtype=torch.float64))


def suboptimality(problem: Problem, optimum: Optimum, lisa: Lisa, run: Run, *, seed: int) -> Tensor:
    """Train under LISA and return f_reg(w_t) - f_reg* after every step, shape (steps,).

    lisa: of a `BlockedWeights`, not yet attached; run: with a step size of lr / sqrt(t), t from 1;
    seed: of the batches.
    """
    model = lisa.model
    assert isinstance(model, BlockedWeights)
    optimizer = lisa.attach(
        torch.optim.AdamW(model.parameters(), lr=run.lr, weight_decay=run.decay)
    )
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) ** -0.5)
    generator = torch.Generator().manual_seed(seed)
    count, gaps = len(problem.x_ND), []
    for _ in range(run.steps):
        rows_B = torch.randint(count, (run.batch_size,), generator=generator)
        scores_B = problem.x_ND[rows_B] @ model.vector()
        nn.functional.softplus(-problem.sign_N[rows_B] * scores_B).mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        scheduler.step()
        model.project(run.radius)
        w_D = model.vector().detach()
        gaps.append(regularised(problem, w_D, optimum.penalty_D) - optimum.value)
    return torch.tensor(gaps, dtype=torch.float64)


def log_places(num_steps: int, per_decade: int) -> list[int]:
    """Return numbers of steps, evenly spaced in the logarithm, the last being all of them.

    >>> log_places(100, 2)
    [1, 3, 10, 32, 100]
    """
    end = math.log10(num_steps)
    return sorted({round(10 ** (end - k / per_decade)) for k in range(int(end * per_decade) + 1)})
