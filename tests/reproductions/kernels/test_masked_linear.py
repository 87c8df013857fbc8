"""Products of masked weights and their derivatives, beside dense ones in float64."""

from __future__ import annotations

import math
from types import ModuleType

import pytest
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.kernels.precision import tolerance

KERNEL = "masked_linear"
SHAPES = ((1, 1, 1), (5, 7, 3), (64, 64, 64), (65, 70, 90), (0, 4, 4), (3, 0, 5), (130, 33, 65))
"""Rows, inputs, outputs: one, odd, whole blocks, a bit above them, none."""
CASES = [
    *((shape, 0.3, torch.float32) for shape in SHAPES),
    *(((65, 70, 90), density, torch.float32) for density in (0.0, 1.0)),
    *(((65, 70, 90), 0.3, half) for half in (torch.float16, torch.bfloat16)),
]


def drawn(*shape: int, seed: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize(("shape", "density", "dtype"), CASES, ids=str)
def test_both_ways_are_those_of_a_dense_product(
    ops: ModuleType, shape: tuple[int, int, int], density: float, dtype: torch.dtype
) -> None:
    rows, inner, outer = shape
    x = drawn(rows, inner, seed=1, dtype=dtype).requires_grad_()
    weight = drawn(outer, inner, seed=2, dtype=dtype).requires_grad_()
    mask = torch.rand(outer, inner, generator=torch.Generator().manual_seed(3)) < density
    along = drawn(rows, outer, seed=4, dtype=dtype)
    y = ops.masked_linear(x, weight, mask)
    y.backward(along)
    wide = [each.detach().double().requires_grad_() for each in (x, weight)]
    wanted = wide[0] @ (wide[1] * mask).T
    wanted.backward(along.double())
    pairs = [(y, wanted, inner), (x.grad, wide[0].grad, outer), (weight.grad, wide[1].grad, rows)]
    for found, right, length in pairs:
        assert found is not None and right is not None and found.dtype == dtype
        allowed = tolerance(dtype, max(length, 1), size=math.sqrt(max(length, 1)))
        torch.testing.assert_close(found.double(), right, **allowed)
    assert weight.grad is not None and not weight.grad[~mask].any()


def test_strides_are_taken_as_they_come(ops: ModuleType) -> None:
    x = drawn(40, 20, seed=1, dtype=torch.float32).T
    weight = drawn(40, 60, seed=2, dtype=torch.float32)[:, ::2].T
    mask = (drawn(40, 30, seed=3, dtype=torch.float32) > 0).T
    wanted = x.double() @ (weight.double() * mask).T
    found = ops.masked_linear(x, weight, mask)
    torch.testing.assert_close(found.double(), wanted, **tolerance(torch.float32, 40, size=6.0))


@pytest.mark.parametrize("kept", [(0, 1), (2, 2)], ids=str)
def test_one_block_of_many_is_kept(ops: ModuleType, kept: tuple[int, int]) -> None:
    x, along = (drawn(70, 150, seed=seed, dtype=torch.float32) for seed in (1, 2))
    weight = drawn(150, 150, seed=3, dtype=torch.float32)
    mask = torch.zeros(150, 150, dtype=torch.bool)
    row, column = (slice(64 * place, 64 * place + 64) for place in kept)
    mask[row, column] = True
    x, weight = x.requires_grad_(), weight.requires_grad_()
    y = ops.masked_linear(x, weight, mask)
    y.backward(along)
    wide = [each.detach().double() for each in (x, weight, along)]
    dense = wide[1] * mask
    pairs = [
        (y, wide[0] @ dense.T),
        (x.grad, wide[2] @ dense),
        (weight.grad, wide[2].T @ wide[0] * mask),
    ]
    for found, wanted in pairs:
        allowed = tolerance(torch.float32, 150, size=10.0)
        torch.testing.assert_close(found.detach().double(), wanted, **allowed)
        assert wanted.any()


def test_nan_in_a_pruned_weight_does_no_harm(ops: ModuleType) -> None:
    x, weight = torch.ones(2, 3), torch.tensor([[1.0, math.nan, 2.0]])
    found = ops.masked_linear(x, weight, torch.tensor([[True, False, True]]))
    assert torch.equal(found, torch.full((2, 1), 3.0))


def test_shapes_that_do_not_fit_are_told(ops: ModuleType) -> None:
    with pytest.raises(SpecError, match=r"mask \(3, 2\)"):
        ops.masked_linear(torch.ones(4, 3), torch.ones(2, 3), torch.ones(3, 2, dtype=torch.bool))


@pytest.mark.parametrize("odd", [-math.inf, math.nan])
def test_what_is_not_finite_reaches_the_products_it_is_in(ops: ModuleType, odd: float) -> None:
    x, weight = torch.ones(3, 70), torch.ones(5, 70)
    x[1, 69] = odd
    weight[2, 3] = odd
    mask = torch.ones(5, 70, dtype=torch.bool)
    wanted = x @ weight.T
    found = ops.masked_linear(x, weight, mask)
    assert torch.equal(found.isnan(), wanted.isnan())
    assert torch.equal(found.nan_to_num(0.0), wanted.nan_to_num(0.0))
