"""FedSign's penalty, beside the method's own and autograd."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.asymvalley.method.federated.algorithms import FedSign, Received
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
        ops.add_fedsign_(torch.ones(3), torch.ones(3), torch.ones(4), gamma=1.0)
    with pytest.raises(SpecError, match="same flat one"):
        ops.add_fedsign_(*[torch.ones(2, 2)] * 3, gamma=1.0)


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
