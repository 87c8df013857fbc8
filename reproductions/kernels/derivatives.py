"""What a rule of a derivative has to know: whether it is differentiated itself.

A kernel's rule is made of numbers that are no longer followed back to what they were made of:
whatever is differentiated once more takes plain torch's rule, of which there is a graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.autograd import forward_ad

from harness.errors import SpecError


@contextmanager
def tangents_of_tangents() -> Iterator[None]:
    """Follow tangents in a rule for tangents: torch does not, and leaves out what they add.

    Take `primal` of what the rule has saved: tangents of its own it must not have.
    """
    with forward_ad._set_fwd_grad_enabled(True):
        yield


def primal(tensor: Tensor) -> Tensor:
    """Return a tensor without the tangent of the transform at hand."""
    return forward_ad.unpack_dual(tensor).primal


def backward_is_differentiated(*tensors: Tensor) -> bool:
    """Say whether a backward is: a graph of it is wanted, or a transform or a tangent is at work.

    tensors: what it is made of, and what comes in.
    """
    return torch.is_grad_enabled() or any(
        _is_wrapped(each)
        or torch._C._functorch.is_legacy_batchedtensor(each)
        or (forward_ad._current_level >= 0 and _has_tangent(each))
        for each in tensors
    )


def tangent_is_differentiated(*tensors: Tensor) -> bool:
    """Say whether a rule for tangents is, by a transform outside of it or by autograd.

    tensors: what it is made of.
    """
    return any(_is_followed_outside(each) for each in tensors)


def refuse_tangents(kernel: str, *tensors: Tensor | None) -> None:
    """Raise SpecError for a tensor with a tangent, which a kernel would drop without a word."""
    if forward_ad._current_level >= 0 and any(t is not None and _has_tangent(t) for t in tensors):
        raise SpecError(f"kernel {kernel} drops tangents: take its plain implementation for them")


def refuse_derivatives(kernel: str, *tensors: Tensor | None) -> None:
    """Raise SpecError for a tensor with a tangent, or one that a backward is to go through to."""
    refuse_tangents(kernel, *tensors)
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors):
        raise SpecError(
            f"kernel {kernel} has no backward, and an input requires grad: call it under"
            " torch.no_grad(), or take its plain implementation"
        )


def _is_wrapped(tensor: Tensor) -> bool:
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def _has_tangent(tensor: Tensor) -> bool:
    return forward_ad.unpack_dual(tensor).tangent is not None


def _is_followed_outside(tensor: Tensor) -> bool:
    """Look below the one wrapper that is of the transform at hand."""
    num_following = 0
    while _is_wrapped(tensor):
        num_following += torch._C._functorch.is_gradtrackingtensor(tensor)
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return num_following > 1 or (torch.is_grad_enabled() and tensor.requires_grad)
