"""Forward unrolling by a kernel: an inner step and its tangents along all directions at once.

Source: Shen et al., arXiv 2406.14095, eq. 4 along directions. torch.func differentiates the loss;
the optimizer's step and its derivative are `reproductions.kernels.tangent_step`.
Letters: C directions, M entries of theta.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.func import grad, vmap

from reproductions.fg2u.method.optimizers import Adam, Inner, Optimizer, Sgd
from reproductions.fg2u.method.problem import GradientStep, Problem
from reproductions.fg2u.method.trees import ONCE, Tree, norm, pushed, split, tree_leaves, tree_map
from reproductions.kernels import backend
from reproductions.kernels.tangent_step import plain as rules


class Slopes(NamedTuple):
    """A chunk of directional derivatives of h."""

    value: Tensor
    """h(phi)."""
    slope_C: Tensor
    """w = dh/dphi v of each direction."""
    growth_C: Tensor
    """|dtheta_T/dphi v| / |v| of each; NaN where it is not known."""


def kernel_of(problem: Problem, phi: Tree, batch: Any) -> ModuleType | None:
    """Return the kernel for a problem, None where torch.func takes its steps.

    Kernels know Adam and SGD with momentum as they are here, one step size for all weights, and
    float32; on a CPU there is none to choose. Where one could be taken and is not, that is said.
    """
    device = tree_leaves(phi)[0].device
    if not isinstance(problem.step, GradientStep) or not _is_known(problem.step.optimizer):
        # Triton need not be there for them.
        if device.type == "cuda":
            why = "steps of neither Adam nor SGD with momentum"
            backend.passed_over("tangent_step", "torch.func", why)
        return None
    taken = backend.choose(device)
    if taken == "plain":
        return None
    if why := _why_not(problem, problem.step.optimizer, phi, batch):
        backend.passed_over("tangent_step", "torch.func", why)
        return None
    return backend.chosen("tangent_step", device, taken)


def _why_not(problem: Problem, optimizer: Optimizer, phi: Tree, batch: Any) -> str:
    """Say why no kernel takes a problem's steps; nothing where one does."""
    with torch.no_grad():
        leaves = [*tree_leaves(phi), *tree_leaves(problem.start(phi, batch))]
        size = torch.as_tensor(optimizer.step_size(phi, 0))
    if any(leaf.dtype != torch.float32 for leaf in leaves):
        return "not all in float32"
    if len({leaf.device for leaf in leaves}) > 1:
        return "tensors on several devices"
    if size.numel() != 1:
        return "a step size per weight"
    return "" if all(leaf.numel() for leaf in leaves) else "an empty tensor"


def _is_known(optimizer: Optimizer) -> bool:
    """Say whether an optimizer is one of the kernel's; a subclass may step in its own way."""
    return type(optimizer) is Adam or (type(optimizer) is Sgd and optimizer.momentum > 0.0)


def carry(kernel: ModuleType, problem: Problem, phi: Tree, batch: Any, rows: Tree) -> Slopes:
    """Unroll a problem and its tangents along `rows`, each leaf of shape (C, ...)."""
    step = problem.gradient_step
    state, along = _each(lambda v: pushed(lambda p: problem.start(p, batch), (phi,), (v,)), rows)
    params, leaf = state.params, tree_leaves(state)[0]
    dtype, device = leaf.dtype, leaf.device
    point, moving = (_flat(step.optimizer, each, at) for at, each in enumerate((state, along)))
    del state, along

    for number in range(problem.num_steps):

        def slope(p: Tree, q: Tree, number: int = number) -> tuple[Tree, Tensor]:
            gradient = grad(step.loss)(p, q, batch, number)
            size = step.optimizer.step_size(q, number)
            return gradient, torch.as_tensor(size, dtype=torch.float64, device=device).reshape(())

        here = _whole(point.value, params)
        (gradient, lr), (d_gradient, d_lr) = _each(
            lambda d_p, d_q, here=here, slope=slope: pushed(slope, (here, phi), (d_p, d_q)),
            split(moving.value, params), rows,
        )  # fmt: skip
        rule = _rule(step.optimizer, float(lr), number)
        point, moving = kernel.step(
            rule, point, _joined(gradient, 0), moving, _joined(d_gradient, 1), d_lr.to(dtype)
        )
    return _judged(problem, phi, batch, rows, point, moving, params)


def _judged(
    problem: Problem, phi: Tree, batch: Any, rows: Tree,
    point: rules.Point, moving: rules.Point, params: Tree,
) -> Slopes:  # fmt: skip
    """Return the outer loss at the end, and its slopes."""
    end = _whole(point.value, params)

    def outer(p: Tree, q: Tree) -> Tensor:
        return problem.outer(Inner(p, ()), q, batch)

    value, slope_C = _each(
        lambda d_p, d_q: pushed(outer, (end, phi), (d_p, d_q)), split(moving.value, params), rows
    )
    return Slopes(value, slope_C, vmap(norm)(moving.tensors) / vmap(norm)(rows))


def _each(function: Callable[..., Any], *trees: Tree) -> tuple[Any, Any]:
    """Return a function's value, the same for all directions, and its tangents along each.

    Nothing is batched for one direction: not all that has a derivative can be.
    """
    if len(tree_leaves(trees[0])[0]) == 1:
        value, along = function(*(tree_map(lambda row: row[0], tree) for tree in trees))
        return value, tree_map(lambda leaf: leaf[None], along)
    value, along = vmap(function, out_dims=(ONCE, 0))(*trees)
    return value, along


def _flat(optimizer: Optimizer, state: Inner, dims: int) -> rules.Point:
    """Return a state as the kernel takes it; `dims` come before each leaf's own."""
    first, second = state.slots if isinstance(optimizer, Adam) else (state.slots, None)
    return rules.Point(
        value=_joined(state.params, dims),
        first=_joined(first, dims),
        second=None if second is None else _joined(second, dims),
    )


def _joined(tree: Tree, dims: int) -> Tensor:
    """Return all leaves in one tensor, of shape (M,) or, with one dimension before, (C, M)."""
    # A leaf may have no dimension of its own.
    return torch.cat([leaf[..., None].flatten(dims) for leaf in tree_leaves(tree)], dim=dims)


def _whole(flat_M: Tensor, params: Tree) -> Tree:
    """Return a flat value in the shape of `params`."""
    return tree_map(lambda leaf: leaf[0], split(flat_M[None], params))


def _rule(optimizer: Optimizer, lr: float, number: int) -> rules.Sgd | rules.Adam:
    if isinstance(optimizer, Sgd):
        return rules.Sgd(lr=lr, momentum=optimizer.momentum)
    assert isinstance(optimizer, Adam)
    return rules.Adam(
        lr=lr, beta1=optimizer.beta1, beta2=optimizer.beta2, eps_root=optimizer.eps_root,
        step=number,
    )  # fmt: skip
