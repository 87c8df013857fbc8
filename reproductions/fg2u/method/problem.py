"""A bi-level problem: T inner steps from a start, and the loss that judges where they end.

Source: Shen et al., arXiv 2406.14095 (NeurIPS 2024), section 2: theta_0 = Phi_0(phi),
theta_t = Phi_t(theta_{t-1}, phi), h(phi) = f(theta_T(phi), phi). What an inner optimizer remembers
is part of theta.

`batch` is whatever an outer step is fixed by: data, initial weights, drawn indices. All directions
and all passes of one estimate see the same batch, so nothing may be drawn inside a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.func import grad as func_grad

from harness.errors import SpecError
from reproductions.fg2u.method.optimizers import Inner, Optimizer
from reproductions.fg2u.method.trees import Tree, like, tree_leaves, tree_map

Loss = Callable[[Tree, Tree, Any, int], Tensor]
"""From weights, phi, the batch and the number of the step (from 0) to a scalar."""
Start = Callable[[Tree, Any], Tree]
"""From phi and the batch to theta_0."""
OuterLoss = Callable[[Tree, Tree, Any], Tensor]
"""From theta_T (without slots), phi and the batch to a scalar."""


def check_whole(*, least: int = 1, **counts: int) -> None:
    """Raise SpecError for a count that is no whole number, or too small."""
    for name, count in counts.items():
        if not isinstance(count, Integral) or count < least:
            raise SpecError(f"{name}={count!r}: need a whole number of {least} or more")


class Step(Protocol):
    """One inner step: pure, and made of what torch.func can differentiate."""

    def __call__(self, state: Tree, phi: Tree, batch: Any, number: int) -> Tree: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientStep:
    """An inner step that is an optimizer's update along the gradient of a loss."""

    loss: Loss
    optimizer: Optimizer

    def __call__(self, state: Inner, phi: Tree, batch: Any, number: int) -> Inner:
        gradient = func_grad(self.loss)(state.params, phi, batch, number)
        return self.optimizer.update(gradient, state, phi, number)

    def taped(self, state: Inner, phi: Tree, batch: Any, number: int) -> Inner:
        """Take the step with autograd's own graph, which holds less than torch.func's.

        See pytorch#134612. Not to be used under vmap, where autograd sees no gradient
        (pytorch#158610).
        """
        # A view, as a start may be phi itself: the gradient by phi is no part of that by params.
        params = tree_map(
            lambda p: p.view_as(p) if p.requires_grad else p.detach().requires_grad_(), state[0]
        )
        gradient = torch.autograd.grad(
            self.loss(params, phi, batch, number),
            tree_leaves(params),
            create_graph=True,
            materialize_grads=True,
        )
        return self.optimizer.update(like(params, gradient), Inner(params, state[1]), phi, number)


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A bi-level problem."""

    start: Start
    step: Step
    outer_loss: OuterLoss
    num_steps: int
    """Inner steps T, the depth of the unroll."""

    def __post_init__(self) -> None:
        check_whole(num_steps=self.num_steps)

    @property
    def gradient_step(self) -> GradientStep:
        """The step as a gradient's. Raises SpecError for any other."""
        if isinstance(self.step, GradientStep):
            return self.step
        raise SpecError(
            "this method needs an inner loss, and the problem has a step of its own:"
            " build it by `from_loss`, or use rgu, rgu-checkpoint, trgu, fgu, fg2u or fg2u-zo"
        )

    def advance(self, state: Tree, phi: Tree, batch: Any, number: int, *, taped: bool) -> Tree:
        """Return the state after one inner step; `taped` where autograd records it."""
        if taped and isinstance(self.step, GradientStep):
            return self.step.taped(state, phi, batch, number)
        return self.step(state, phi, batch, number)

    def outer(self, state: Tree, phi: Tree, batch: Any) -> Tensor:
        """Return the outer loss at a state. Raises SpecError if it is no scalar."""
        weights = state.params if isinstance(self.step, GradientStep) else state
        value = self.outer_loss(weights, phi, batch)
        if not isinstance(value, Tensor) or value.dim() != 0:
            raise SpecError("outer_loss must return a tensor of no dimension: take its mean or sum")
        if not value.is_floating_point():
            raise SpecError(f"outer_loss returned {value.dtype}: it must be a real floating number")
        return value

    def unroll(self, phi: Tree, batch: Any) -> tuple[Tensor, Tree]:
        """Return h(phi) and theta_T, by steps that keep no history unless autograd does."""
        state = self.start(phi, batch)
        for number in range(self.num_steps):
            state = self.step(state, phi, batch, number)
        return self.outer(state, phi, batch), state


def from_loss(
    *, start: Start, loss: Loss, outer_loss: OuterLoss, optimizer: Optimizer, num_steps: int
) -> Problem:
    """Return the problem whose inner steps are an optimizer's on a loss.

    start: returns the initial weights; the optimizer's slots begin beside them.
    Raises SpecError for an optimizer of torch, through whose steps no derivative goes.
    """
    if isinstance(optimizer, torch.optim.Optimizer):
        raise SpecError(
            f"optimizer is torch.optim's {type(optimizer).__name__}, which changes weights in place"
            " where no derivative follows: use Sgd or Adam of this package"
        )

    def with_slots(phi: Tree, batch: Any) -> Inner:
        params = start(phi, batch)
        return Inner(params, optimizer.start(params))

    return Problem(
        start=with_slots,
        step=GradientStep(loss=loss, optimizer=optimizer),
        outer_loss=outer_loss,
        num_steps=num_steps,
    )


def from_solver(*, solve: Start, outer_loss: OuterLoss) -> Problem:
    """Return the problem of a solver whose steps are its own affair: a PDE's, say, or a program's.

        problem = from_solver(solve=lambda phi, batch: simulate(phi), outer_loss=misfit)
        meta = hypergradient("fg2u-zo", num_directions=1)(problem, phi)

    solve: from phi and the batch to what outer_loss judges; for fg2u-zo of one direction at a time
    it may leave torch, and with `differences="result"` outer_loss alone must be differentiable.
    """
    return Problem(
        start=solve, step=lambda state, phi, batch, number: state, outer_loss=outer_loss,
        num_steps=1,
    )  # fmt: skip
