"""What goes wrong with a problem, said in one sentence each."""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import torch
from torch import Tensor
from torch.func import jvp

from harness.errors import HarnessError, SpecError
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.trees import (
    Tree,
    attached,
    detached,
    floating,
    is_finite,
    tree_leaves,
    tree_map,
)

_ELSEWHERE = "write it in other operations, or use fg2u-zo"
_MESSAGES = (
    (
        r"forward AD with (?P<op>\S+) that does not support it"
        r"|forward mode AD.* custom autograd.Function (?P<custom>\S*)|forward mode AD",
        "an inner step uses {op}, which has no forward-mode rule: write it in other operations,"
        " or use rgu or fg2u-zo",
    ),
    (
        r"derivative for '?(?P<op>[^ ']+)'? is not implemented"
        r"|the derivative of '?(?P<other>[^ ']+)'? is not implemented",
        "an inner step uses {op}, whose gradient has no derivative of its own: " + _ELSEWHERE,
    ),
    (
        r"autograd.Function with functorch",
        "an inner step uses an autograd.Function of the old kind: give it setup_context, and jvp"
        " for forward methods",
    ),
    (
        r"mutate a captured Tensor|in-place operation|inplace arithmetic",
        "an inner step changes a tensor in place, as batch norm does with running statistics:"
        " return new tensors; for norms set track_running_stats=False, or use group norm",
    ),
    (
        r"random operation while in randomness error mode",
        "an inner step draws random numbers, and each direction would see others: draw them before"
        " and hand them over in the batch",
    ),
    (
        r"calling \.item\(\)|data-dependent control flow|call numpy\(\) on",
        "an inner step leaves torch (.item(), .numpy(), an if on a value): compute with tensors,"
        " or use fg2u-zo with chunk=1",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        "an inner step detaches what it computes: the loss has no history to differentiate",
    ),
)

Needs = Literal["values", "backward", "forward"]
"""What a method asks of the inner steps: values alone, derivatives, or forward-mode rules too."""

_CHECKED: weakref.WeakKeyDictionary[Problem, set[Needs]] = weakref.WeakKeyDictionary()
"""Problems whose first step was looked at, and for what."""


@contextlib.contextmanager
def explained(method: str) -> Iterator[None]:
    """Turn torch's errors about derivatives into sentences that say who must do what."""
    try:
        yield
    except HarnessError:
        raise
    except (NotImplementedError, RuntimeError) as error:
        for pattern, message in _MESSAGES:
            found = re.search(pattern, str(error), re.IGNORECASE | re.DOTALL)
            if found:
                op = next((name for name in found.groups() if name), "a function of its own")
                raise SpecError(f"{method}: {message.format(op=op)}") from error
        raise


def check_problem(problem: Problem, phi: Tree, batch: Any, needs: Needs) -> None:
    """Look at one inner step for what would give a wrong gradient in silence.

    A problem is looked at once. Raises SpecError.
    """
    check_phi(phi)
    seen = _CHECKED.setdefault(problem, set())
    if needs in seen:
        return
    state = detached(problem.start(phi, batch))
    if not floating(state):
        raise SpecError("start returned no tensor of floating point: nothing can be trained")
    if needs == "values":
        with torch.no_grad():
            twice = [floating(problem.step(state, phi, batch, 0)) for _ in range(2)]
        _check_same(*twice)
    else:
        _check_links(problem, state, phi, batch, forward=needs == "forward")
    seen.add(needs)


def check_phi(phi: Tree) -> None:
    """Raise SpecError for a phi that nothing can be differentiated by."""
    leaves = tree_leaves(phi)
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise SpecError("phi must be a tensor, or a tuple, list or dictionary of tensors")
    if not all(leaf.is_floating_point() and leaf.numel() for leaf in leaves):
        raise SpecError("phi has a leaf that is empty or not of floating point")
    if not is_finite(phi):
        raise SpecError("phi has an entry that is not finite")


def _check_links(problem: Problem, state: Tree, phi: Tree, batch: Any, *, forward: bool) -> None:
    """Compare <u, J v> with <J^T u, v> of the first step, for one random u and v."""
    inputs, generator = attached((state, phi)), torch.Generator().manual_seed(0)
    after = floating(problem.advance(inputs[0], inputs[1], batch, 0, taped=True))
    adjoint = [_random_like(leaf, generator) for leaf in after]
    tangent = [_random_like(leaf, generator) for leaf in floating(inputs)]
    reached = [(leaf, u) for leaf, u in zip(after, adjoint, strict=True) if leaf.requires_grad]
    found: Sequence[Tensor | None] = [None] * len(tangent)
    if reached:
        ends, weights = zip(*reached, strict=True)
        found = torch.autograd.grad(ends, floating(inputs), weights, allow_unused=True)
    if all(grad is None for grad in found[: len(floating(inputs[0]))]):
        raise SpecError(
            "an inner step detaches its state: theta_t does not depend on theta_{t-1}, and nothing"
            " can be differentiated through the unroll"
        )
    try:
        value, pushed = _pushed(problem, state, phi, batch, tangent)
    except (NotImplementedError, RuntimeError) as error:
        if forward or not re.search(_MESSAGES[0][0], str(error)):
            raise
        return
    _check_same(after, value)
    ahead, backward = sum(_terms(pushed, adjoint)), _terms(found, tangent)
    size = max(abs(ahead), sum(abs(term) for term in backward))
    if abs(ahead - sum(backward)) > 1e-2 * size:
        raise SpecError(
            "forward and backward derivatives of an inner step differ: something in it runs under"
            " torch.no_grad, which stops only backward ones; use .detach() for constants"
        )


def _terms(left: Sequence[Tensor | None], right: Sequence[Tensor]) -> list[float]:
    pairs = zip(left, right, strict=True)
    return [float((a * b).sum()) for a, b in pairs if a is not None]


def _check_same(once: list[Tensor], again: list[Tensor]) -> None:
    """Raise SpecError where two passes of one step are not the same."""
    pairs = zip(once, again, strict=True)
    if not all(torch.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True) for a, b in pairs):
        raise SpecError(
            "an inner step gives another result each time: draw its random numbers before and hand"
            " them over in the batch, and switch dropout off"
        )


def _pushed(
    problem: Problem, state: Tree, phi: Tree, batch: Any, tangent: list[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the floating results of the first step, and their tangents."""
    moving = iter(tangent)
    directions = tree_map(
        lambda leaf: next(moving) if leaf.is_floating_point() else torch.zeros_like(leaf),
        (state, phi),
    )
    with torch.no_grad():
        value, ahead = jvp(
            lambda s, p: tuple(floating(problem.step(s, p, batch, 0))), (state, phi), directions
        )
    return list(value), list(ahead)


def check_influence(problem: Problem, phi: Tree, batch: Any) -> None:
    """Raise SpecError where the outer loss does not depend on phi, whatever its value."""
    ones = tree_map(torch.ones_like, phi)
    try:
        with torch.no_grad():
            jvp(lambda p: problem.unroll(p, batch)[0], (phi,), (ones,), strict=True)
    except NotImplementedError:
        return
    except RuntimeError as error:
        if "independent of the inputs" in str(error):
            raise SpecError(
                "phi has no influence on the outer loss: neither start nor an inner step nor"
                " outer_loss uses it"
            ) from error
        raise


def _random_like(leaf: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(leaf.shape, generator=generator).to(leaf)


def where_not_finite(problem: Problem, phi: Tree, batch: Any) -> str:
    """Return a sentence that names the inner step at which a value or a tangent overflows."""
    advice = "lower the inner step size, or clip the outer one"
    generator = torch.Generator().manual_seed(0)
    moved = tree_map(lambda leaf: _random_like(leaf, generator), phi)
    with torch.no_grad():
        state, tangent = jvp(lambda p: problem.start(p, batch), (phi,), (moved,))
        for number in range(problem.num_steps):
            try:
                state, tangent = jvp(
                    lambda s, p, n=number: problem.step(s, p, batch, n),
                    (state, phi),
                    (tangent, moved),
                )
            except (NotImplementedError, RuntimeError):
                state = problem.step(state, phi, batch, number)
            if not is_finite(state):
                return f"inner step {number} ends in a value that is not finite: {advice}"
            if not is_finite(tangent):
                return f"inner step {number} ends in a tangent that is not finite: {advice}"
    return f"every inner step is finite, but not the gradient by the outer loss: {advice}"
