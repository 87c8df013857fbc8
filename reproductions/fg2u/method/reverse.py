"""Reverse methods: the inner steps are walked back from theta_T with an adjoint.

`rgu` keeps the graph of every step, `rgu-checkpoint` and `rgu-mixflow` compute steps again, `trgu`
walks back the last ones alone. Recursion, with A_t and B_t the derivatives of step t by theta and
phi: lambda_T = df/dtheta, g = df/dphi; then back, g += lambda B_t and lambda <- lambda A_t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.func import grad as func_grad
from torch.func import vjp

from harness.errors import SpecError
from reproductions.fg2u.method.estimator import Counts, Estimator, Parts
from reproductions.fg2u.method.optimizers import Inner
from reproductions.fg2u.method.problem import GradientStep, Problem, check_whole
from reproductions.fg2u.method.refusals import Needs
from reproductions.fg2u.method.trees import (
    Tree,
    added,
    attached,
    detached,
    floating,
    has_gradient,
    pushed,
    tree_leaves,
    tree_map,
    zeros_for_none,
)


def pulled_back(outputs: Tree, inputs: Tree, adjoint: Tree | None, *, keep: bool = False) -> Tree:
    """Return the adjoint of `inputs`, zeros where the outputs do not depend on them.

    adjoint: of the outputs; one without it, for a scalar. keep: the graph, for another call.
    """
    pairs = zip(
        tree_leaves(outputs), tree_leaves(adjoint) if adjoint is not None else [None], strict=True
    )
    reached = [(out, weight) for out, weight in pairs if out.requires_grad]
    wanted = floating(inputs)
    if not reached:
        return tree_map(torch.zeros_like, inputs)
    found = iter(
        torch.autograd.grad(
            [out for out, _ in reached], wanted, [weight for _, weight in reached],
            allow_unused=True, retain_graph=keep,
        )
    )  # fmt: skip
    leaves = [next(found) if has_gradient(leaf) else None for leaf in tree_leaves(inputs)]
    return zeros_for_none(inputs, leaves)


def end(problem: Problem, state: Tree, phi: Tree, batch: Any) -> tuple[Tensor, Tree, Tree]:
    """Return h, df/dtheta_T and df/dphi, without history."""
    state, phi = attached(state), attached(phi)
    value = problem.outer(state, phi, batch)
    adjoint, grad = pulled_back(value, (state, phi), None)
    return value.detach(), adjoint, grad


def started(problem: Problem, phi: Tree, batch: Any) -> Tree:
    """Return theta_0 without history."""
    with torch.no_grad():
        return detached(problem.start(phi, batch))


def advanced(problem: Problem, state: Tree, phi: Tree, batch: Any, numbers: range) -> Tree:
    """Return the state after these steps, without history."""
    with torch.no_grad():
        for number in numbers:
            state = detached(problem.step(state, phi, batch, number))
    return state


@dataclass(frozen=True, kw_only=True)
class Rgu(Estimator):
    """Reverse unrolling: exact, and its memory is T times the graph of a step."""

    name: ClassVar[str] = "rgu"
    is_biased: ClassVar[bool] = False

    def parts(
        self, problem: Problem, phi: Tree, batch: Any, generator: torch.Generator | None
    ) -> Parts:
        return walked_back(problem, phi, batch, kept=problem.num_steps)


def walked_back(problem: Problem, phi: Tree, batch: Any, *, kept: int) -> Parts:
    """Return the gradient through the last steps; earlier ones, and their phi, are constants."""
    phi, early = attached(phi), problem.num_steps - kept
    if early:
        state = advanced(problem, started(problem, phi, batch), phi, batch, range(early))
    else:
        state = problem.start(phi, batch)
    for number in range(early, problem.num_steps):
        state = problem.advance(state, phi, batch, number, taped=True)
    value = problem.outer(state, phi, batch)
    del state
    grad = pulled_back(value, phi, None)
    return Parts(grad=grad, value=value, counts=Counts(inner_steps=problem.num_steps))


@dataclass(frozen=True, kw_only=True)
class Trgu(Estimator):
    """Truncated reverse unrolling: phi's influence on all but the last steps is left out.

    Its bias on a strongly convex problem is bounded by eq. 22.
    """

    name: ClassVar[str] = "trgu"
    is_biased: ClassVar[bool] = True

    keep: int
    """s, the last steps that are walked back."""

    def __post_init__(self) -> None:
        check_whole(keep=self.keep)

    def parts(
        self, problem: Problem, phi: Tree, batch: Any, generator: torch.Generator | None
    ) -> Parts:
        if self.keep > problem.num_steps:
            raise SpecError(
                f"keep={self.keep}: the unroll has only {problem.num_steps} steps, use rgu"
            )
        return walked_back(problem, phi, batch, kept=self.keep)


def segments(num_steps: int, size: int) -> list[range]:
    """Return the steps in stretches of one size.

    >>> segments(5, 2)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    return [range(num_steps)[at : at + size] for at in range(0, num_steps, size)]


def root_size(num_steps: int) -> int:
    """Return the size of a segment at which states and graphs grow alike, ceil(sqrt(T))."""
    return math.isqrt(num_steps - 1) + 1


@dataclass(frozen=True, kw_only=True)
class Segmented(Estimator):
    """Reverse unrolling in segments: the state before each is kept, the rest computed again."""

    is_biased: ClassVar[bool] = False

    segment: int = 0
    """Steps of a segment; 0 for ceil(sqrt(T))."""

    def __post_init__(self) -> None:
        check_whole(segment=self.segment, least=0)

    def parts(
        self, problem: Problem, phi: Tree, batch: Any, generator: torch.Generator | None
    ) -> Parts:
        pieces = segments(problem.num_steps, self.segment or root_size(problem.num_steps))
        state, kept = started(problem, phi, batch), []
        for piece in pieces:
            kept.append(self.kept(problem, state, piece))
            state = advanced(problem, state, phi, batch, piece)
        value, adjoint, grad = end(problem, state, phi, batch)
        del state
        for piece in reversed(pieces):
            adjoint, more = self.walk(problem, kept.pop(), phi, batch, piece, adjoint)
            grad = added(grad, more)
        grad = added(grad, self.through_start(problem, phi, batch, adjoint))
        return Parts(grad=grad, value=value, counts=self.counts(problem.num_steps))

    def kept(self, problem: Problem, state: Tree, piece: range) -> Tree:
        """Return what `walk` needs of the state before a segment."""
        return state

    def walk(
        self, problem: Problem, state: Tree, phi: Tree, batch: Any, piece: range, adjoint: Tree
    ) -> tuple[Tree, Tree]:
        """Return the adjoint before a segment, and what the segment adds to the gradient."""
        raise NotImplementedError

    def counts(self, num_steps: int) -> Counts:
        """Return what an unroll costs."""
        raise NotImplementedError

    def through_start(self, problem: Problem, phi: Tree, batch: Any, adjoint: Tree) -> Tree:
        """Return what the start of the unroll adds to the gradient."""
        phi = attached(phi)
        return pulled_back(problem.start(phi, batch), phi, adjoint)


@dataclass(frozen=True, kw_only=True)
class RguCheckpoint(Segmented):
    """Reverse unrolling that keeps every k-th state and the graph of one segment at a time."""

    name: ClassVar[str] = "rgu-checkpoint"

    def walk(
        self, problem: Problem, state: Tree, phi: Tree, batch: Any, piece: range, adjoint: Tree
    ) -> tuple[Tree, Tree]:
        inputs = attached((state, phi))
        after = inputs[0]
        for number in piece:
            after = problem.advance(after, inputs[1], batch, number, taped=True)
        before, more = pulled_back(after, inputs, adjoint)
        return before, more

    def counts(self, num_steps: int) -> Counts:
        return Counts(inner_steps=2 * num_steps)


@dataclass(frozen=True, kw_only=True)
class RguMixflow(Segmented):
    """Reverse unrolling whose steps are walked back by one forward derivative of a gradient.

    No graph of a gradient ever lives: the Hessian is symmetric, so that its product from the left
    is one from the right. Exact. Only for steps of an optimizer along a gradient.
    Source: MixFlow-MG, arXiv 2505.00793; ours goes through the states of any optimizer.
    """

    name: ClassVar[str] = "rgu-mixflow"
    needs: ClassVar[Needs] = "forward"

    segment: int = 1
    """Steps of a segment; with 1 no step is computed again, 0 is for ceil(sqrt(T))."""
    freeze_optimizer_state: bool = False
    """Whether what the optimizer remembers counts as a constant, as in the released script."""
    skip_first_step: bool = False
    """Whether the walk ends before the first step and the start, as in the released script."""

    def kept(self, problem: Problem, state: Inner, piece: range) -> Inner:
        if len(piece) > 1 or problem.gradient_step.optimizer.slots_matter:
            return state
        # Zeros that share one element: no derivative asks for the slots, and no step is repeated.
        bare = tree_map(lambda leaf: leaf.new_zeros(()).expand_as(leaf), state.slots)
        return Inner(state.params, bare)

    def walk(
        self, problem: Problem, state: Inner, phi: Tree, batch: Any, piece: range, adjoint: Tree
    ) -> tuple[Tree, Tree]:
        step, states = problem.gradient_step, [state]
        for number in piece[:-1]:
            states.append(advanced(problem, states[-1], phi, batch, range(number, number + 1)))
        total = tree_map(torch.zeros_like, phi)
        for number in reversed(piece):
            if number or not self.skip_first_step:
                adjoint, more = self._back(step, states.pop(), phi, batch, number, adjoint)
                total = added(total, more)
        return adjoint, total

    def through_start(self, problem: Problem, phi: Tree, batch: Any, adjoint: Tree) -> Tree:
        if self.skip_first_step:
            return tree_map(torch.zeros_like, phi)
        return super().through_start(problem, phi, batch, adjoint)

    def counts(self, num_steps: int) -> Counts:
        walked = num_steps - self.skip_first_step
        again = num_steps - len(segments(num_steps, self.segment or root_size(num_steps)))
        return Counts(inner_steps=num_steps + again + walked, hvps=walked)

    def _back(
        self, step: GradientStep, state: Inner, phi: Tree, batch: Any, number: int, adjoint: Inner
    ) -> tuple[Inner, Tree]:
        """Return the adjoint of a step's state, and what the step adds to the gradient."""

        def gradients(params: Tree, phi: Tree) -> tuple[Tree, Tree]:
            found = func_grad(step.loss, argnums=(0, 1))(params, phi, batch, number)
            return found[0], found[1]

        with torch.no_grad():
            gradient = func_grad(step.loss)(state.params, phi, batch, number)
            taken: Any = vjp(
                lambda g, s, p: step.optimizer.update(g, s, p, number), gradient, state, phi
            )
            _, walk = taken
            along, before, by_rate = walk(adjoint)
            del walk, taken, gradient
            still = tree_map(torch.zeros_like, phi)
            _, (by_params, by_phi) = pushed(gradients, (state.params, phi), (along, still))
        if self.freeze_optimizer_state:
            before = Inner(before.params, tree_map(torch.zeros_like, before.slots))
        return Inner(added(before.params, by_params), before.slots), added(by_rate, by_phi)


def released_reverse() -> RguMixflow:
    """Return reverse unrolling as the released JAX script computes it: not exact.

    Momentum is a constant, and the first inner step is left out: the released script's recursion.
    """
    return RguMixflow(freeze_optimizer_state=True, skip_first_step=True)
