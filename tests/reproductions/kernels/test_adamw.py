"""Steps of masked weights beside torch's own AdamW, to which masks are applied by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.kernels.adamw.launch import POINTERS, launch_of
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.backend import Backend
from reproductions.kernels.precision import ROUNDING, tolerance

KERNEL = "adamw"
SHAPES = ((3, 5), (7,), (2, 3, 4), (0, 4), (), (2, 1024), (2049,))
"""Odd ones, a stack, none, one number, a whole chunk, a bit above one."""
TENSORS = ("value", "grad", "mean", "square")


def weights_of(
    dtype: torch.dtype = torch.float32, *, lr: Any = 0.02, masked: bool = True
) -> list[Weight]:
    generator = torch.Generator().manual_seed(1)

    def drawn(shape: tuple[int, ...]) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    states = torch.promote_types(dtype, torch.float32)
    found = []
    for shape in SHAPES:
        mask = drawn(shape) > 0 if masked else None
        value = drawn(shape)
        found.append(Weight(
            value=value if mask is None else value * mask, grad=drawn(shape), mask=mask, lr=lr,
            mean=torch.zeros(shape, dtype=states), square=torch.zeros(shape, dtype=states),
        ))  # fmt: skip
    return found


@pytest.mark.parametrize(("masked", "weight_decay"), [(True, 0.3), (False, 0.0)])
def test_steps_are_those_of_torch_with_masks_by_hand(
    ops: ModuleType, masked: bool, weight_decay: float, bands: Callable[[Tensor], Tensor]
) -> None:
    ours = [
        replace(weight, **{name: bands(getattr(weight, name)) for name in TENSORS})
        for weight in weights_of(masked=masked)
    ]
    theirs = [torch.nn.Parameter(weight.value.double()) for weight in ours]
    optimizer = torch.optim.AdamW(theirs, lr=0.02, weight_decay=weight_decay, eps=1e-5)
    for number in range(1, 4):
        norms = ops.step_(ours, AdamW(weight_decay=weight_decay, eps=1e-5), number)
        for weight, param in zip(ours, theirs, strict=True):
            param.grad = weight.grad.double() * (1 if weight.mask is None else weight.mask)
        optimizer.step()
        for weight, param, found in zip(ours, theirs, norms, strict=True):
            assert param.grad is not None
            allowed = tolerance(torch.float32, size=3.0)
            torch.testing.assert_close(weight.value.double(), param.detach(), **allowed)
            wanted = torch.stack([param.grad.norm(), param.detach().norm()])
            allowed = tolerance(torch.float32, max(weight.value.numel(), 1))
            torch.testing.assert_close(found.double(), wanted, **allowed)
            weight.grad.mul_(-0.7)


def test_independent_decay_does_not_ask_for_the_step_size(ops: ModuleType) -> None:
    one, other = weights_of(lr=1e-30), weights_of(lr=1e-30)
    before = [weight.value.clone() for weight in one]
    ops.step_(one, AdamW(weight_decay=0.25, decay="independent"), 1)
    ops.step_(other, AdamW(weight_decay=0.25), 1)
    for weight, same, old in zip(one, other, before, strict=True):
        torch.testing.assert_close(weight.value, 0.75 * old)
        torch.testing.assert_close(same.value, old)


def test_masked_entries_are_zero_and_nan_there_does_no_harm(ops: ModuleType) -> None:
    weights = weights_of()
    for weight in weights:
        assert weight.mask is not None
        weight.value.masked_fill_(~weight.mask, 9.0)
        weight.grad.masked_fill_(~weight.mask, float("nan"))
    ops.step_(weights, AdamW(weight_decay=0.1), 1)
    for weight in weights:
        assert weight.mask is not None
        assert not weight.value[~weight.mask].any() and weight.value.isfinite().all()
        assert not weight.mean[~weight.mask].any() and not weight.square[~weight.mask].any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_states_of_halves_are_those_of_float32(
    ops: ModuleType, backend: Backend, dtype: torch.dtype
) -> None:
    half, single = weights_of(dtype), weights_of(dtype)
    wide = [replace(w, value=w.value.float(), grad=w.grad.float()) for w in single]
    if backend == "cuda" and dtype == torch.float16:
        with pytest.raises(SpecError, match=r"values in torch.float16.* Triton has the others"):
            ops.step_(half, AdamW(), 1)
        return
    ops.step_(half, AdamW(), 1)
    ops.step_(wide, AdamW(), 1)
    for weight, same in zip(half, wide, strict=True):
        assert torch.equal(weight.mean, same.mean) and torch.equal(weight.square, same.square)
        # Below the normal numbers halves have fewer digits.
        allowed = {"rtol": ROUNDING[dtype], "atol": torch.finfo(dtype).smallest_normal}
        torch.testing.assert_close(weight.value.float(), same.value, **allowed)


def test_norms_of_several_types_are_in_the_order_of_the_weights(
    ops: ModuleType, backend: Backend
) -> None:
    weights = weights_of()
    weights[1:3] = weights_of(torch.bfloat16)[1:3]
    weights[4] = replace(weights[4], mask=None)
    found = ops.step_(weights, AdamW(), 1)
    for weight, norms in zip(weights, found, strict=True):
        kept = True if weight.mask is None else weight.mask
        wanted = (weight.grad.double() * kept).norm()
        torch.testing.assert_close(norms[0].double(), wanted, **tolerance(torch.float32, 2049))


def test_what_is_sent_is_the_new_value_in_its_own_type(ops: ModuleType) -> None:
    weights = [
        replace(weight, copy=torch.empty_like(weight.value, dtype=torch.bfloat16))
        for weight in weights_of()
    ]
    ops.step_(weights, AdamW(), 1)
    for weight in weights:
        assert weight.copy is not None
        allowed = {"rtol": ROUNDING[torch.bfloat16], "atol": 0.0}
        torch.testing.assert_close(weight.copy.float(), weight.value, **allowed)


def test_settings_of_no_optimizer_are_told(ops: ModuleType) -> None:
    with pytest.raises(SpecError, match="betas"):
        AdamW(betas=(0.9, 1.0))
    with pytest.raises(SpecError, match="step=0"):
        ops.step_([], AdamW(), 0)


def is_aligned(weights: list[Weight]) -> bool:
    """Return what a kernel is told of addresses, by which it reads and writes 16 bytes at once."""
    return launch_of(weights, AdamW()).table.aligned


def an_entry_further(tensor: Tensor) -> Tensor:
    """Return a copy of a tensor that lies an entry after a multiple of 16 bytes."""
    return torch.zeros(tensor.numel() + 1, dtype=tensor.dtype)[1:].view(tensor.shape).copy_(tensor)


@pytest.mark.parametrize("name", POINTERS)
def test_one_address_that_is_no_multiple_of_16_bytes_is_told(name: str) -> None:
    weights = [
        replace(weight, copy=torch.zeros_like(weight.value, dtype=torch.bfloat16))
        for weight in weights_of()
    ]
    assert is_aligned(weights)
    # The last of several weights.
    moved = {name: an_entry_further(getattr(weights[-1], name))}
    assert not is_aligned([*weights[:-1], replace(weights[-1], **moved)])


def test_what_is_not_there_lies_nowhere_else_and_members_of_a_stack_where_they_are() -> None:
    assert is_aligned(weights_of(masked=False))
    lr = torch.tensor([0.5, 0.01])
    for size, aligned in ((3, False), (4, True)):
        value, grad, mean, square = (torch.zeros(2, size) for _ in TENSORS)
        stack = Weight(value=value, grad=grad, mean=mean, square=square, mask=None, lr=lr)
        assert is_aligned([stack]) == aligned
