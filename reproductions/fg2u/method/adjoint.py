"""(FG)2U that walks back through the outer loss: w = c y_T + d v, with c and d by one pass.

The unroll stays forward. Its tangents y_T meet c = df/dtheta_T and d = df/dphi in a product, so
that the outer loss costs one gradient per chunk, whatever the number of directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from reproductions.fg2u.method.forward import Fg2u
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.reverse import end
from reproductions.fg2u.method.tangents import Slopes
from reproductions.fg2u.method.trees import ONCE, Tree, detached, floating, norm, pushed


@dataclass(frozen=True, kw_only=True)
class Fg2uAdjoint(Fg2u):
    """(FG)2U with the same estimate, for an outer loss that is dear beside an inner step.

    Memory is that of the unroll's tangents, or of the outer loss's graph if that is larger.
    Source: arXiv 2406.14095, eqs. 8 and 9, where c and d stand apart from the recursion.
    """

    def slopes(self, problem: Problem, phi: Tree, batch: Any, rows: Tree) -> Slopes:
        def along(v: Tree) -> tuple[Tree, Tree, Tensor]:
            state, y = pushed(lambda p: _last_state(problem, p, batch), (phi,), (v,))
            return state, y, norm(floating(y)) / norm(v)

        state, y_C, growth_C = vmap(along, out_dims=(ONCE, 0, 0))(rows)
        with torch.enable_grad():
            value, adjoint, grad = end(problem, detached(state), phi, batch)
        slope_C = _product(y_C, adjoint) + _product(rows, grad)
        return Slopes(value, slope_C, growth_C)


def _last_state(problem: Problem, phi: Tree, batch: Any) -> Tree:
    """Return theta_T."""
    state = problem.start(phi, batch)
    for number in range(problem.num_steps):
        state = problem.step(state, phi, batch, number)
    return state


def _product(rows: Tree, single: Tree) -> Tensor:
    """Return the real inner product of each of C trees with one, shape (C,)."""
    pairs = zip(floating(rows), floating(single), strict=True)
    return torch.stack([(row.flatten(1) @ one.conj().flatten()).real for row, one in pairs]).sum(0)
