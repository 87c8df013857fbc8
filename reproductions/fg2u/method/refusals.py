"""What is refused of a problem, and why, each in a sentence, where torch would say nothing."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import keystr, tree_flatten_with_path

from harness.errors import SpecError
from reproductions.fg2u.method.explained import has_no_forward_rule
from reproductions.fg2u.method.problem import GradientStep, Problem
from reproductions.fg2u.method.trees import (
    Tree,
    attached,
    detached,
    floating,
    has_gradient,
    is_finite,
    like,
    pushed,
    tree_leaves,
    tree_map,
)

Needs = Literal["values", "backward", "forward"]
"""What a method asks of the inner steps: values alone, derivatives, or forward-mode rules too."""

ROUNDINGS = 10.0
"""Both derivatives may differ by so many times what rounding alone changes in one of them."""

_CHECKED: weakref.WeakKeyDictionary[Problem, set[Needs]] = weakref.WeakKeyDictionary()
"""Problems whose first steps were looked at, and for what."""


def check_problem(problem: Problem, phi: Tree, batch: Any, needs: Needs) -> None:
    """Look at start, two inner steps and the outer loss for what would be wrong in silence.

    A problem is looked at once. Raises SpecError; warns of a leaf of phi that nothing depends on.
    """
    seen = _CHECKED.setdefault(problem, set())
    if needs in seen:
        return
    with torch.no_grad():
        state = problem.start(phi, batch)
    _check_state(state, "start")
    trained = tree_leaves(state.params) if isinstance(problem.step, GradientStep) else []
    if not all(map(has_gradient, trained)):
        raise SpecError(
            "start returned a weight of whole numbers, which no gradient trains: hand it over in"
            " the batch"
        )
    short = replace(problem, num_steps=min(2, problem.num_steps))
    if needs == "values":
        with torch.no_grad(), _NoHalf():  # type: ignore[no-untyped-call]
            _check_same(*([short.unroll(phi, batch)[0]] for _ in range(2)))
    else:
        forward = needs == "forward"
        for number in range(short.num_steps):
            state = _check_links(problem, detached(state), phi, batch, number, forward=forward)
        found = _check_whole(short, phi, batch, forward=forward)
        idle = [number for number, grad in enumerate(found) if grad is None]
        # Others may act after the steps that were looked at.
        if 0 < len(idle) < len(found) and not _has_influence(problem, phi, batch, idle):
            paths = [path for path, _ in tree_flatten_with_path(phi)[0]]
            names = ", ".join(f"phi{keystr(paths[number])}" for number in idle)
            warnings.warn(
                f"nothing depends on {names}: its gradient is 0, for which random"
                " directions give noise; leave it out of phi",
                RuntimeWarning,
                stacklevel=3,
            )
    seen.add(needs)


def _check_state(state: Tree, maker: str) -> None:
    """Raise SpecError for a state that is not made of tensors, or that nothing can train."""
    if others := {
        type(leaf).__name__ for leaf in tree_leaves(state) if not isinstance(leaf, Tensor)
    }:
        raise SpecError(f"{maker} returned {others.pop()} in its state: make it tensors alone")
    if not floating(state):
        raise SpecError(f"{maker} returned no tensor of floating point: nothing can be trained")
    for leaf in floating(state):
        _refuse_half(leaf.dtype, f"{maker} returned a state in")


def check_phi(phi: Tree) -> None:
    """Raise SpecError for a phi that nothing can be differentiated by."""
    leaves = tree_leaves(phi)
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise SpecError("phi must be a tensor, or a tuple, list or dictionary of tensors")
    if not all(leaf.is_floating_point() and leaf.numel() for leaf in leaves):
        raise SpecError("phi has a leaf that is empty or not of real floating point")
    if not is_finite(phi):
        raise SpecError("phi has an entry that is not finite")
    for leaf in leaves:
        _refuse_half(leaf.dtype, "phi is in")
    if len({leaf.data_ptr() for leaf in leaves}) < len(leaves):
        raise SpecError(
            "phi has one tensor twice, whose two gradients are not added up: name it once, and use"
            " that name in both places"
        )


HALF = (torch.float16, torch.bfloat16)


def _refuse_half(dtype: torch.dtype, what: str) -> None:
    """Raise SpecError for numbers of too few digits to be unrolled."""
    if dtype in HALF:
        raise SpecError(
            f"{what} {dtype}, whose few digits inner steps and their derivatives are lost in: take"
            " float32, and torch.autocast within the inner loss where that is to be fast"
        )


class _NoHalf(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Raises SpecError where anything is computed in half precision, as under autocast."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(made):
            if isinstance(leaf, Tensor) and leaf.dtype in HALF:
                raise SpecError(
                    f"an inner step or outer_loss computes in {leaf.dtype}, and differences are"
                    " lost in its rounding: switch autocast off, or take a method with derivatives"
                )
        return made


def refuse_autocast(device: torch.device) -> None:
    """Raise SpecError where autocast is on round an estimate."""
    if torch.is_autocast_enabled(device.type):
        raise SpecError(
            "autocast is on round the estimate, and would round start, steps and outer loss alike:"
            " put torch.autocast within the inner loss, where it stands for the forward pass"
        )


def _check_links(
    problem: Problem, state: Tree, phi: Tree, batch: Any, number: int, *, forward: bool
) -> Tree:
    """Compare both derivatives of an inner step, and return the state after it."""
    inputs = attached((state, phi))
    after = problem.advance(inputs[0], inputs[1], batch, number, taped=True)
    _check_state(after, f"inner step {number}")
    found, adjoint = _walked_back(after, inputs)
    if all(grad is None for grad in found[: len(floating(inputs[0]))]):
        raise SpecError(
            "an inner step detaches its state: theta_t does not depend on theta_{t-1}, and nothing"
            " can be differentiated through the unroll"
        )
    _check_both(
        lambda s, p: problem.step(s, p, batch, number), inputs, after, found, adjoint,
        "an inner step", forward=forward,
    )  # fmt: skip
    return after


def _check_whole(
    problem: Problem, phi: Tree, batch: Any, *, forward: bool
) -> Sequence[Tensor | None]:
    """Compare both derivatives of start, some steps and the outer loss together.

    Returns a multiple of the gradient, None for a leaf that was not used.
    """
    moving = attached(phi)
    state = problem.start(moving, batch)
    for number in range(problem.num_steps):
        state = problem.advance(state, moving, batch, number, taped=True)
    value = problem.outer(state, moving, batch)
    found, adjoint = _walked_back(value, moving)
    _check_both(
        lambda p: problem.unroll(p, batch)[0], (moving,), value, found, adjoint,
        "start or outer_loss", forward=forward,
    )  # fmt: skip
    return found


def _walked_back(after: Tree, inputs: Tree) -> tuple[Sequence[Tensor | None], list[Tensor]]:
    """Return the adjoint of the inputs, and the random one of the outputs that it comes from."""
    generator = torch.Generator().manual_seed(0)
    adjoint = [_random_like(leaf, generator) for leaf in floating(after)]
    pairs = zip(floating(after), adjoint, strict=True)
    reached = [(leaf, u) for leaf, u in pairs if leaf.requires_grad]
    if not reached:
        return [None] * len(floating(inputs)), adjoint
    ends, weights = zip(*reached, strict=True)
    found = torch.autograd.grad(
        ends, floating(inputs), weights, allow_unused=True, retain_graph=True
    )
    return found, adjoint


def _check_both(
    function: Callable[..., Tree],
    inputs: tuple[Tree, ...],
    after: Tree,
    found: Sequence[Tensor | None],
    adjoint: list[Tensor],
    where: str,
    *,
    forward: bool,
) -> None:
    """Compare <u, J v> with <J^T u, v> for one random v, and the value with that of another pass.

    after, found, adjoint: the value, J^T u and u, by autograd.
    """
    generator = torch.Generator().manual_seed(1)
    tangent = [_random_like(leaf, generator) for leaf in floating(inputs)]
    try:
        with torch.no_grad():
            value, moved = _pushed(function, inputs, tangent)
    except (NotImplementedError, RuntimeError) as error:
        if forward or not has_no_forward_rule(error):
            raise
        return
    if not _same(floating(after), floating(value)):
        # Another way of computing it may round otherwise; the same way gives the same twice.
        with torch.no_grad():
            _check_same(floating(value), floating(_pushed(function, inputs, tangent)[0]))
    ahead, backward = sum(_terms(moved, adjoint)), _terms(found, tangent)
    if abs(ahead - sum(backward)) <= 1e-2 * max(abs(ahead), sum(map(abs, backward))):
        return
    if _differs_beyond_rounding(function, inputs, after, tangent, adjoint):
        raise SpecError(
            f"forward and backward derivatives of {where} differ: something in it runs under"
            " torch.no_grad, which stops only backward ones (use .detach() for constants), or is"
            " compiled, which stops only forward ones, or has too few digits (autocast)"
        )


def _differs_beyond_rounding(
    function: Callable[..., Tree], inputs: tuple[Tree, ...], after: Tree, tangent: list[Tensor],
    adjoint: list[Tensor],
) -> bool:  # fmt: skip
    """Say whether derivatives differ in a leaf by more than what the last digit of inputs does.

    That is much where a root or a quotient multiplies rounding: a bias before a norm has a
    gradient of 0 but for rounding, which Adam divides by its own root. Leaves are judged one by
    one.
    """
    nudges = [_terms(each, adjoint) for each in _nudged(function, inputs, tangent)]
    for leaf, u, near in zip(floating(after), adjoint, zip(*nudges, strict=True), strict=True):
        terms = [0.0]
        if leaf.requires_grad:
            found = torch.autograd.grad(
                leaf, floating(inputs), u, allow_unused=True, retain_graph=True
            )
            terms = _terms(found, tangent)
        apart = max(abs(one - sum(terms)) for one in near)
        rounding = max(near) - min(near)
        if apart > max(1e-2 * sum(map(abs, terms)), ROUNDINGS * rounding):
            return True
    return False


def _nudged(
    function: Callable[..., Tree], inputs: tuple[Tree, ...], tangent: list[Tensor]
) -> list[list[Tensor]]:
    """Return J v at inputs that differ in their last digit."""
    generator = torch.Generator().manual_seed(2)

    def nudged(leaf: Tensor) -> Tensor:
        if not has_gradient(leaf):
            return leaf.detach()
        one = leaf.detach()
        return one * (1.0 + torch.finfo(one.dtype).eps * _random_like(one, generator))

    with torch.no_grad():
        return [_pushed(function, tree_map(nudged, inputs), tangent)[1] for _ in range(4)]


def _terms(left: Sequence[Tensor | None], right: Sequence[Tensor]) -> list[float]:
    pairs = zip(left, right, strict=True)
    return [float((a.conj() * b).sum().real) for a, b in pairs if a is not None]


def _same(once: list[Tensor], again: list[Tensor]) -> bool:
    pairs = zip(once, again, strict=True)
    return all(torch.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True) for a, b in pairs)


def _check_same(once: list[Tensor], again: list[Tensor]) -> None:
    """Raise SpecError where two passes are not the same."""
    if not _same(once, again):
        raise SpecError(
            "start, an inner step or outer_loss gives another result each time: draw random numbers"
            " before and hand them over in the batch, switch dropout off, and change no tensor in"
            " place"
        )


def _pushed(
    function: Callable[..., Tree], inputs: tuple[Tree, ...], tangent: Sequence[Tensor]
) -> tuple[Tree, list[Tensor]]:
    """Return a function's value, and the tangents of its leaves that can have a gradient.

    tangent: of such leaves of the inputs; others, such as a count of steps, stand still.
    """

    def of_moving(*leaves: Tensor) -> tuple[tuple[Tensor, ...], Tree]:
        supply = iter(leaves)
        moved = [next(supply) if has_gradient(leaf) else leaf for leaf in tree_leaves(inputs)]
        value = function(*like(inputs, moved))
        return tuple(floating(value)), value

    at = tuple(floating(inputs))
    _, ahead, value = pushed(of_moving, at, tuple(tangent), has_aux=True)
    return value, list(ahead)


def check_influence(problem: Problem, phi: Tree, batch: Any) -> None:
    """Raise SpecError where the outer loss does not depend on phi, whatever its value."""
    if not _has_influence(problem, phi, batch, range(len(tree_leaves(phi)))):
        raise SpecError(
            "phi has no influence on the outer loss: neither start nor an inner step nor"
            " outer_loss uses it"
        )


def _has_influence(problem: Problem, phi: Tree, batch: Any, numbers: Sequence[int]) -> bool:
    """Return whether the outer loss depends on any of these leaves of phi; so it is said, too,
    where an operation has no forward rule."""
    leaves = tree_leaves(phi)

    def value(*moved: Tensor) -> Tensor:
        own = dict(zip(numbers, moved, strict=True))
        return problem.unroll(
            like(phi, [own.get(n, leaves[n]) for n in range(len(leaves))]), batch
        )[0]

    at = tuple(leaves[number] for number in numbers)
    try:
        with torch.no_grad():
            pushed(value, at, tuple(map(torch.ones_like, at)), strict=True)
    except NotImplementedError:
        return True
    except RuntimeError as error:
        if "independent of the inputs" in str(error):
            return False
        raise
    return True


def _random_like(leaf: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(leaf.shape, generator=generator).to(leaf)


def where_not_finite(problem: Problem, phi: Tree, batch: Any) -> str:
    """Return a sentence that names the inner step at which a value or a tangent overflows."""
    advice = "lower the inner step size, or clip the outer one"
    generator = torch.Generator().manual_seed(0)
    moved = [_random_like(leaf, generator) for leaf in floating(phi)]
    with torch.no_grad():
        state = problem.start(phi, batch)
        if not is_finite(floating(state)):
            return (
                "the start, or the solver, returns a value that is not finite: give it a phi and"
                " steps at which it is stable"
            )
        try:
            state, tangent = _pushed(lambda p: problem.start(p, batch), (phi,), moved)
        except (NotImplementedError, RuntimeError):
            return f"values or differences overflow: {advice}"
        for number in range(problem.num_steps):
            try:
                state, tangent = _pushed(
                    lambda s, p, n=number: problem.step(s, p, batch, n),
                    (state, phi),
                    [*tangent, *moved],
                )
            except (NotImplementedError, RuntimeError):
                state = problem.step(state, phi, batch, number)
            if not is_finite(state):
                return f"inner step {number} ends in a value that is not finite: {advice}"
            if not is_finite(tangent):
                return f"inner step {number} ends in a tangent that is not finite: {advice}"
    return f"every inner step is finite, but not the gradient by the outer loss: {advice}"
