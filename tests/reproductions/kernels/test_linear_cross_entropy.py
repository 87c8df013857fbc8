"""Losses and derivatives of every kind beside torch's, which has all logits at once."""

from __future__ import annotations

import math
from types import ModuleType

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.func import jvp, vmap
from torch.nn.functional import cross_entropy

from harness.errors import SpecError
from reproductions.kernels.backend import Backend
from reproductions.kernels.linear_cross_entropy.plain import IGNORED, linear_cross_entropy
from reproductions.kernels.precision import ROUNDING, tolerance

KERNEL = "linear_cross_entropy"


def problem(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(7, 5, generator=generator, dtype=torch.float64).to(dtype)
    weight = torch.randn(11, 5, generator=generator, dtype=torch.float64).to(dtype)
    targets = torch.randint(11, (7,), generator=generator)
    targets[2] = IGNORED
    return x, weight, targets


def whole(x: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(x @ weight.T, targets)


def dtype_of(backend: Backend) -> torch.dtype:
    """Return in what a backend sums at most."""
    return torch.float64 if backend == "plain" else torch.float32


@pytest.mark.parametrize("rows", [3, 100])
def test_loss_and_gradients_are_torch_s(ops: ModuleType, backend: Backend, rows: int) -> None:
    given, targets = problem(dtype_of(backend))[:2], problem()[2]
    leaves = [each.clone().requires_grad_() for each in given]
    wide = [each.double().requires_grad_() for each in given]
    ours = ops.linear_cross_entropy(*leaves, targets, rows_at_once=rows)
    wanted = whole(*wide, targets)
    allowed = tolerance(dtype_of(backend), 11, size=3.0)
    torch.testing.assert_close(ours.double(), wanted, **allowed)
    for found, right in zip(
        torch.autograd.grad(3 * ours, leaves), torch.autograd.grad(3 * wanted, wide), strict=True
    ):
        torch.testing.assert_close(found.double(), right, **allowed)


def test_a_head_that_does_not_train_has_no_gradient_made(ops: ModuleType, backend: Backend) -> None:
    x, weight, targets = problem(dtype_of(backend))
    found = []
    for trains in (True, False):
        leaf = x.clone().requires_grad_()
        loss = ops.linear_cross_entropy(leaf, weight.clone().requires_grad_(trains), targets)
        held = [each for each in loss.grad_fn.saved_tensors if each is not None]
        found.append((torch.autograd.grad(loss, leaf)[0], len(held)))
    assert torch.equal(found[0][0], found[1][0])
    assert backend == "plain" or found[1][1] == found[0][1] - 1


@pytest.mark.parametrize("place", [10, 8999])
def test_the_largest_logit_may_lie_in_any_block(
    ops: ModuleType, backend: Backend, place: int
) -> None:
    """What was summed before it is made smaller when it comes."""
    generator = torch.Generator().manual_seed(3)
    x = torch.rand(3, 8, generator=generator, dtype=torch.float64)
    weight = torch.randn(9000, 8, generator=generator, dtype=torch.float64) / 8
    weight[place] = 2.5
    leaves = [each.to(dtype_of(backend)).requires_grad_() for each in (x, weight)]
    wide, targets = [x.requires_grad_(), weight.requires_grad_()], torch.tensor([0, place, 4097])
    ours, wanted = ops.linear_cross_entropy(*leaves, targets), whole(*wide, targets)
    allowed = tolerance(dtype_of(backend), 9000)
    torch.testing.assert_close(ours.double(), wanted, **allowed)
    for found, right in zip(
        torch.autograd.grad(ours, leaves), torch.autograd.grad(wanted, wide), strict=True
    ):
        torch.testing.assert_close(found.double(), right, **allowed)


def test_what_is_not_finite_in_a_row_that_does_not_count_reaches_no_other(
    ops: ModuleType, backend: Backend
) -> None:
    x, weight, targets = problem(dtype_of(backend))
    spoilt = x.clone()
    spoilt[2] = float("nan")
    found = []
    for given in (x, spoilt):
        leaves = [given.clone().requires_grad_(), weight.clone().requires_grad_()]
        loss = ops.linear_cross_entropy(*leaves, targets, rows_at_once=3)
        found.append((loss.detach(), *torch.autograd.grad(loss, leaves)))
    torch.testing.assert_close(found[1], found[0], rtol=0.0, atol=0.0)


def test_derivatives_of_both_orders_and_modes_are_finite_differences() -> None:
    x, weight, targets = problem()
    x, weight = x[:4, :2].clone().requires_grad_(), weight[:5, :2].clone().requires_grad_()
    targets = targets[:4].clamp(max=4)

    def loss(x: Tensor, weight: Tensor) -> Tensor:
        return linear_cross_entropy(x, weight, targets, rows_at_once=3)

    assert gradcheck(loss, (x, weight), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(loss, (x, weight))


def test_tangents_go_through_all_at_once(ops: ModuleType, backend: Backend) -> None:
    x, weight, targets = problem(dtype_of(backend))
    tangents = torch.randn(4, *weight.shape, dtype=x.dtype)

    def along(tangent: Tensor) -> Tensor:
        def loss(weight: Tensor) -> Tensor:
            found: Tensor = ops.linear_cross_entropy(x, weight, targets, rows_at_once=3)
            return found

        return jvp(loss, (weight,), (tangent,))[1]

    def along_whole(tangent: Tensor) -> Tensor:
        return jvp(lambda weight: whole(x, weight, targets), (weight,), (tangent,))[1]

    allowed = tolerance(dtype_of(backend), 11 * 5, size=5.0)
    torch.testing.assert_close(vmap(along)(tangents), vmap(along_whole)(tangents), **allowed)


def test_nothing_that_counts_is_no_number_as_in_torch(ops: ModuleType) -> None:
    x, weight, targets = problem(torch.float32)
    assert ops.linear_cross_entropy(x, weight, targets.fill_(IGNORED)).isnan()


@pytest.mark.parametrize("target", [-1, 11])
def test_a_target_out_of_bounds_is_refused_as_torch_refuses_it(
    ops: ModuleType, target: int
) -> None:
    x, weight, targets = problem(torch.float32)
    targets[4] = target
    for loss in (whole, ops.linear_cross_entropy):
        with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
            loss(x, weight, targets)


def test_wrong_shapes_are_told(ops: ModuleType) -> None:
    x, weight, targets = problem()
    linear_cross_entropy = ops.linear_cross_entropy
    with pytest.raises(SpecError, match=r"head of \(5, 11\)"):
        linear_cross_entropy(x, weight.T, targets)
    with pytest.raises(SpecError, match=r"give \(7,\)"):
        linear_cross_entropy(x, weight, targets[:3])
    with pytest.raises(SpecError, match="at least one"):
        linear_cross_entropy(x, weight, targets, rows_at_once=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_summed_in_float32(ops: ModuleType, dtype: torch.dtype) -> None:
    x, weight, targets = problem(dtype)
    leaves = [each.clone().requires_grad_() for each in (x, weight)]
    wide = [each.double().requires_grad_() for each in (x, weight)]
    ours, wanted = ops.linear_cross_entropy(*leaves, targets), whole(*wide, targets)
    assert ours.dtype == torch.float32
    # Logits are products of that type; each is rounded once.
    torch.testing.assert_close(ours.double(), wanted, **tolerance(dtype, 11, size=3.0))
    found = torch.autograd.grad(ours, leaves)
    for grad, right in zip(found, torch.autograd.grad(wanted, wide), strict=True):
        assert grad.dtype == dtype
        torch.testing.assert_close(grad.double(), right, **tolerance(dtype, 11, size=3.0))


def test_small_slopes_of_many_rows_are_not_lost_in_float16(ops: ModuleType) -> None:
    """What one row of 128 adds to their mean is less than the smallest number of float16."""
    x, targets = torch.ones(128, 1).half(), torch.zeros(128, dtype=torch.int64)
    weight = torch.zeros(9, 1).half()
    weight[0] = 12.7
    leaves = [each.clone().requires_grad_() for each in (x, weight)]
    found = torch.autograd.grad(ops.linear_cross_entropy(*leaves, targets), leaves)
    exact = [each.double().requires_grad_() for each in (x, weight)]
    right = torch.autograd.grad(whole(*exact, targets), exact)
    assert 0 < right[1][1] / 128 < 2.0**-25
    # Of so small a number float16 has 50 steps; it is rounded to them twice.
    torch.testing.assert_close(found[1].double(), right[1], rtol=0.03, atol=0.0)


def test_a_loss_that_is_scaled_up_keeps_gradients_that_float16_has_not(ops: ModuleType) -> None:
    """As a GradScaler does: what comes back is rounded to float16 after that, and not before."""
    x, targets = torch.full((128, 1), 1e-5).half(), torch.zeros(128, dtype=torch.int64)
    weight = torch.zeros(9, 1).half().requires_grad_()
    exact = weight.detach().double().requires_grad_()
    (found,) = torch.autograd.grad(2.0**13 * ops.linear_cross_entropy(x, weight, targets), weight)
    (right,) = torch.autograd.grad(2.0**13 * whole(x.double(), exact, targets), exact)
    # Slopes, their product with x and what is made of it are rounded once each.
    torch.testing.assert_close(found.double(), right, rtol=3 * ROUNDING[torch.float16], atol=0.0)


@pytest.mark.parametrize("odd", [-math.inf, math.nan])
def test_what_is_not_finite_is_told_as_torch_tells_it(ops: ModuleType, odd: float) -> None:
    x, weight, targets = problem(torch.float32)
    x[4, 0] = odd
    assert whole(x, weight, targets).isnan()
    leaves = [x.requires_grad_(), weight.requires_grad_()]
    loss = ops.linear_cross_entropy(*leaves, targets)
    # Infinite logits of both signs: torch has NaN, and infinity is as good a warning.
    assert not loss.isfinite()
    of_x, _ = torch.autograd.grad(loss, leaves)
    assert of_x[4].isnan().any() and of_x[2].eq(0).all()
