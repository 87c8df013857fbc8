"""Implicit methods: theta_T is taken for the inner optimum, and the unroll is not looked at.

Implicit gradient at an optimum: d - c H^-1 d2g/dtheta dphi, with c = df/dtheta, d = df/dphi and H
the Hessian of the inner loss. `neumann` sums K+1 terms of H^-1's series, `hessian-free` its first.
Source: Shen et al., arXiv 2406.14095, appendix B, eqs. 23 to 27.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.fg2u.method.estimator import Counts, Estimator, Parts
from reproductions.fg2u.method.problem import GradientStep, Problem, check_whole
from reproductions.fg2u.method.reverse import advanced, end, pulled_back, started
from reproductions.fg2u.method.trees import (
    Tree,
    added,
    attached,
    inner,
    like,
    norm,
    scaled,
    tree_leaves,
    tree_map,
)

MAX_RISE = 1e3
"""Rise of a term of the series over the first from which it diverges, alpha being above 2 over the
largest eigenvalue, or the Hessian indefinite."""


@dataclass(frozen=True, kw_only=True)
class Neumann(Estimator):
    """The implicit gradient by a Neumann series of the inverse Hessian."""

    name: ClassVar[str] = "neumann"
    is_biased: ClassVar[bool] = True

    terms: int
    """K, terms beyond the first."""
    alpha: float | None = None
    """Scale of the series; without one, the inner optimizer's last step size."""

    def __post_init__(self) -> None:
        check_whole(terms=self.terms, least=0)
        if self.alpha is not None and not self.alpha > 0.0:
            raise SpecError(f"alpha={self.alpha}: need alpha > 0")

    def parts(
        self, problem: Problem, phi: Tree, batch: Any, generator: torch.Generator | None
    ) -> Parts:
        step, last = problem.gradient_step, problem.num_steps - 1
        alpha = self.alpha
        if alpha is None:
            alpha = float(step.optimizer.step_size(phi, last))
        steps = range(problem.num_steps)
        state = advanced(problem, started(problem, phi, batch), phi, batch, steps)
        value, adjoint, grad = end(problem, state, phi, batch)
        taped = Gradient(step, state.params, phi, batch, last)
        term = total = adjoint.params
        first, largest = float(norm(term)), 1.0
        for _ in range(self.terms):
            term = tree_map(lambda v, h: v - alpha * h, term, taped.times(term)[0])
            total = added(total, term)
            largest = max(largest, _ratio(float(norm(term)), first))
        mixed = taped.times(scaled(alpha, total))[1]
        return Parts(
            grad=tree_map(torch.sub, grad, mixed),
            value=value,
            counts=Counts(inner_steps=problem.num_steps, hvps=self.terms),
            facts={"diverged": not largest <= MAX_RISE},
        )


def _ratio(now: float, first: float) -> float:
    return now / first if first > 0.0 and math.isfinite(now) else (math.inf if now else 0.0)


class Gradient:
    """The inner loss's gradient at one point, whose graph answers products with a vector."""

    def __init__(
        self, step: GradientStep, params: Tree, phi: Tree, batch: Any, number: int
    ) -> None:
        self.params, self.phi = attached(params), attached(phi)
        loss: Tensor = step.loss(self.params, self.phi, batch, number)
        found = torch.autograd.grad(
            loss, tree_leaves(self.params), create_graph=True, materialize_grads=True
        )
        self.gradient = like(params, found)

    def times(self, vector: Tree) -> tuple[Tree, Tree]:
        """Return the vector times d2g/dtheta2, and times d2g/dtheta dphi."""
        product = inner(self.gradient, vector)
        by_params, by_phi = pulled_back(product, (self.params, self.phi), None, keep=True)
        return by_params, by_phi


@dataclass(frozen=True, kw_only=True)
class HessianFree(Neumann):
    """The implicit gradient with a multiple of the identity for the inverse Hessian."""

    name: ClassVar[str] = "hessian-free"

    terms: int = field(default=0, init=False)
    """None beyond the first: `alpha` is that multiple."""
