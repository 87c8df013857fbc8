"""Steps and counts by signs, beside the method's own and autograd."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.asymvalley.method.federated.algorithms import FedSign, Received
from reproductions.asymvalley.method.layout import same_sign_ratio
from reproductions.asymvalley.method.noise import sign_consistent
from reproductions.kernels.precision import tolerance

KERNEL = "sign_ops"
OF_EACH_SIZE = pytest.mark.parametrize(
    ("size", "dtype"),
    [
        *((size, torch.float32) for size in (0, 1, 2047, 2048, 5001)),
        *((5001, half) for half in (torch.bfloat16, torch.float16)),
    ],
)
Bands = Callable[[Tensor], Tensor]


def drawn(size: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return normal numbers, some of which are zero."""
    found = torch.randn(size, generator=torch.Generator().manual_seed(seed))
    found[::7] = 0.0
    return found.to(dtype)


@OF_EACH_SIZE
def test_steps_have_the_signs_of_weights(ops: ModuleType, size: int, dtype: torch.dtype) -> None:
    theta, noise = drawn(size, 1, dtype), drawn(size, 2, dtype)
    moved, norms = ops.perturb(theta, noise, 0.3)
    step = 0.3 * sign_consistent(noise.double(), theta.double())
    torch.testing.assert_close(moved.double(), theta.double() + step, **tolerance(dtype, size=4.0))
    wanted = torch.stack([theta.double().norm(), step.norm()])
    # A product with the scale is rounded to the type of its factors.
    torch.testing.assert_close(norms.double(), wanted, **tolerance(dtype, max(size, 1)))


@OF_EACH_SIZE
def test_counts_are_those_of_the_method(ops: ModuleType, size: int, dtype: torch.dtype) -> None:
    first, second = drawn(size, 3, dtype), drawn(size, 4, dtype)
    found = ops.count_same_signs(first, second)
    assert int(found) == (round(same_sign_ratio(first, second) * size) if size else 0)


def test_zeros_tiny_numbers_and_nan_have_the_signs_of_the_method(ops: ModuleType) -> None:
    theta, noise = torch.tensor([0.0, -0.0, 1.0]), torch.tensor([2.0, -3.0, -4.0])
    moved, _ = ops.perturb(theta, noise, 0.5)
    assert torch.equal(moved, torch.tensor([-1.0, -1.5, 3.0])), "of zero it is negative"
    first = torch.tensor([1e-38, -1e-38, math.nan, math.inf, -0.0, 1.0, 0.0])
    second = torch.tensor([1e-38, -1e-38, 1.0, math.inf, -1.0, math.nan, 1.0])
    assert int(ops.count_same_signs(first, second)) == 3
    assert int(ops.count_same_signs(second, first)) == 3


@OF_EACH_SIZE
def test_the_penalty_has_the_gradient_of_autograd(
    ops: ModuleType, size: int, dtype: torch.dtype, bands: Bands
) -> None:
    beta = 3.0
    theta, received, grad = (drawn(size, seed, dtype) for seed in (5, 6, 7))
    found = bands(grad)
    penalty = ops.add_fedsign_(found, theta, received, gamma=0.7, beta=beta)
    leaf = theta.double().requires_grad_()
    up, down = (received > 0).double(), (received < 0).double()
    kept = up * torch.sigmoid(beta * leaf) + down * torch.sigmoid(-beta * leaf)
    wanted = -0.7 * kept.sum()
    wanted.backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    torch.testing.assert_close(
        penalty.double(), wanted.detach(), **tolerance(dtype, max(size, 1), size=size)
    )
    torch.testing.assert_close(
        found.double(), grad.double() + leaf.grad, **tolerance(dtype, size=4.0)
    )


def test_shapes_that_differ_are_told(ops: ModuleType) -> None:
    with pytest.raises(SpecError, match="same flat one"):
        ops.perturb(torch.ones(3), torch.ones(4), 1.0)
    with pytest.raises(SpecError, match="same flat one"):
        ops.count_same_signs(torch.ones(2, 2), torch.ones(2, 2))


def test_what_is_not_finite_is_taken_as_by_the_method(ops: ModuleType) -> None:
    """Every pair of a weight and a received one, so also NaN in both, as in a broken model."""
    odd = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 2.0, -2.0])
    theta, received = torch.cartesian_prod(odd, odd).T.contiguous()
    leaf = theta.clone().requires_grad_()
    given = Received(theta_N=received, sizes=(len(received),), memory={})
    FedSign(gamma=0.7).weight_term(leaf, given).backward()  # type: ignore[no-untyped-call]
    grad = torch.zeros_like(theta)
    assert ops.add_fedsign_(grad, theta, received, gamma=0.7).isnan()
    torch.testing.assert_close(grad, leaf.grad, equal_nan=True)


def test_a_gradient_between_others_is_changed_alone(ops: ModuleType) -> None:
    theta, received, buffer = (drawn(size, seed) for size, seed in ((500, 5), (500, 6), (1000, 7)))
    before, alone = buffer.clone(), buffer[::2].clone()
    ops.add_fedsign_(alone, theta, received, gamma=0.7)
    ops.add_fedsign_(buffer[::2], theta, received, gamma=0.7)
    assert torch.equal(buffer[::2], alone) and torch.equal(buffer[1::2], before[1::2])
