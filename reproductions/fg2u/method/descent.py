"""The outer loop: phases, each with a method and a step size, over a user's batches."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from harness.errors import RunError, SpecError
from reproductions.fg2u.method.estimator import Estimator, MetaGrad
from reproductions.fg2u.method.problem import Problem, check_whole
from reproductions.fg2u.method.refusals import check_phi
from reproductions.fg2u.method.trees import (
    Tree,
    added,
    is_finite,
    norm,
    scaled,
    tree_leaves,
    tree_map,
)

MakeOptimizer = Callable[[list[Tensor], float], Optimizer]


def adam(leaves: list[Tensor], lr: float) -> Optimizer:
    """Return the outer optimizer of the paper's experiments."""
    return torch.optim.Adam(leaves, lr=lr)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """Some outer steps by one method.

    The paper's two phases (section 3.3) are a cheap biased method, then (FG)2U with a smaller step.
    """

    method: Estimator
    num_steps: int
    lr: float
    keep_moments: bool = False
    """Whether the outer optimizer goes on with what it remembers of the phase before."""

    def __post_init__(self) -> None:
        check_whole(num_steps=self.num_steps)
        if not 0.0 < self.lr < inf:
            raise SpecError(f"lr={self.lr}: a phase needs a finite step size above 0")


@dataclass(frozen=True, kw_only=True, slots=True)
class OuterStep:
    """What happened in one outer step."""

    number: int
    """From 0, over all phases."""
    phase: int
    outer_value: float
    """h before the step, mean over the batches of the step."""
    gradient_norm: float
    noise_norm: float | None
    """Estimate of the root mean square error of the gradient: between the step's batches where
    there are several, else from its directions; None where nothing tells."""
    seconds: float
    """In the estimates."""


def descend(
    problem: Problem,
    phi: Tree,
    batches: Iterable[Any],
    phases: Sequence[Phase],
    *,
    generator: torch.Generator | None = None,
    accumulate: int = 1,
    optimizer: MakeOptimizer = adam,
    progress: bool = False,
) -> Iterator[OuterStep]:
    """Minimise h over phi, in place; yield after each outer step.

        for step in descend(problem, images, batches, [Phase(method=m, num_steps=100, lr=1e-2)]):
            print(step.number, step.outer_value)

    batches: one per estimate, `accumulate` of them per step, whose mean gradient is taken with
    fresh directions each; it ends early where they do. progress: draw a bar on the terminal.
    optimizer: makes one over the leaves of phi, with the phase's step size for all of them.
    Raises RunError, with phi as it was before the step, for a gradient that is not finite.
    """
    check_whole(accumulate=accumulate)
    if not phases:
        raise SpecError("descend needs at least one phase")
    check_phi(phi)
    _check_apart(tree_leaves(phi))
    leaves, supply, number = tree_leaves(phi), iter(batches), 0
    stepper: Optimizer | None = None
    with _bar(sum(phase.num_steps for phase in phases), progress) as advance:
        for index, phase in enumerate(phases):
            stepper = _stepper_of(phase, stepper, optimizer, leaves)
            for _ in range(phase.num_steps):
                own = list(itertools.islice(supply, accumulate))
                if not own:
                    return
                found = [phase.method(problem, phi, batch, generator) for batch in own]
                step = _take(stepper, leaves, found, number=number, phase=index)
                advance(step)
                yield step
                number += 1


def _check_apart(leaves: list[Tensor]) -> None:
    """Raise SpecError for entries of phi that share memory, which a step would move twice."""
    for memory in {leaf.untyped_storage().data_ptr() for leaf in leaves}:
        own = [leaf for leaf in leaves if leaf.untyped_storage().data_ptr() == memory]
        if len(own) == 1 and own[0].is_contiguous():
            continue
        every = torch.arange(own[0].untyped_storage().nbytes() // own[0].element_size())
        placed = [every.as_strided(v.shape, v.stride(), v.storage_offset()).flatten() for v in own]
        if torch.cat(placed).bincount().max() > 1:
            raise SpecError(
                "phi has entries that share memory, as an expanded tensor or a view of another leaf"
                " does, and a step would move them twice: clone() them, or name them once"
            )


def _stepper_of(
    phase: Phase, before: Optimizer | None, make: MakeOptimizer, leaves: list[Tensor]
) -> Optimizer:
    """Return the optimizer of a phase: the one before it, where its moments are kept."""
    stepper = before
    if stepper is None or not phase.keep_moments:
        stepper = make(leaves, phase.lr)
        _check_stepper(stepper, leaves, phase.lr)
    for group in stepper.param_groups:
        group["lr"] = phase.lr
    return stepper


def _check_stepper(stepper: Optimizer, leaves: list[Tensor], lr: float) -> None:
    """Raise SpecError for an optimizer that would step something else, or otherwise."""
    held = {id(leaf) for group in stepper.param_groups for leaf in group["params"]}
    if held != {id(leaf) for leaf in leaves}:
        raise SpecError(
            "optimizer made one over other tensors than phi's leaves, and phi would not move: build"
            " it over the list that it is called with"
        )
    for rate in (float(group["lr"]) for group in stepper.param_groups):
        if rate != lr:
            raise SpecError(
                f"optimizer made a group of step size {rate:g}, where the phase has {lr:g} for all:"
                " hand on the size that it is called with, and scale that part of phi instead"
            )


def _take(
    stepper: Optimizer, leaves: list[Tensor], found: list[MetaGrad], *, number: int, phase: int
) -> OuterStep:
    """Step along the mean of some estimates."""
    mean = found[0].grad
    for meta in found[1:]:
        mean = added(mean, meta.grad)
    mean = scaled(1.0 / len(found), mean)
    if not is_finite(mean):
        raise RunError(
            f"outer step {number}: the Neumann series diverged, and its gradient is not finite:"
            " lower alpha, or take fewer terms"
        )
    for leaf, grad in zip(leaves, tree_leaves(mean), strict=True):
        leaf.grad = grad
    stepper.step()
    stepper.zero_grad(set_to_none=True)
    return OuterStep(
        number=number,
        phase=phase,
        outer_value=float(sum(meta.outer_value for meta in found) / len(found)),
        gradient_norm=float(norm(mean)),
        noise_norm=_noise(found, mean),
        seconds=sum(meta.stats.seconds for meta in found),
    )


def _noise(found: list[MetaGrad], mean: Tree) -> float | None:
    if len(found) == 1:
        return found[0].stats.noise_norm
    apart = [norm(tree_map(torch.sub, meta.grad, mean)).square() for meta in found]
    return float((sum(apart) / (len(found) * (len(found) - 1))) ** 0.5)


@contextmanager
def _bar(total: int, wanted: bool) -> Iterator[Callable[[OuterStep], None]]:
    """Give what moves a progress bar, where it is asked for, and nothing otherwise."""
    if not wanted:
        yield lambda step: None
        return
    from rich.progress import Progress

    with Progress() as progress:
        task = progress.add_task("outer steps", total=total)
        yield lambda step: progress.update(
            task, advance=1, description=f"outer loss {step.outer_value:.4g}"
        )
