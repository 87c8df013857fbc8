"""Steps and counts by signs, in plain torch: what the kernels are held against.

Source: "Exploring and Exploiting the Asymmetric Valley" (arXiv 2405.12489v4), sections 4.1, 6.2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from harness.errors import SpecError


@torch.no_grad()
def perturb(theta_P: Tensor, noise_P: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return theta + scale |noise| sign(theta), and norms of theta and of what is added.

    The sign of zero is -1, as in the paper's Listing 2. Norms: shape (2,), float64.
    """
    check(theta_P, noise_P)
    sign_P = torch.where(theta_P > 0, 1.0, -1.0).to(theta_P.dtype)
    move_P = scale * noise_P.abs() * sign_P
    return theta_P + move_P, torch.stack([theta_P.double().norm(), move_P.double().norm()])


@torch.no_grad()
def count_same_signs(first_P: Tensor, second_P: Tensor) -> Tensor:
    """Return how many entries have one sign in both, int64; zeros and NaN agree with nothing."""
    check(first_P, second_P)
    return (first_P.sign() * second_P.sign() > 0).sum()


@torch.no_grad()
def add_fedsign_(
    grad_P: Tensor, theta_P: Tensor, received_P: Tensor, *, gamma: float, beta: float = 1.0
) -> Tensor:
    """Add the gradient of FedSign's penalty, summed over entries; return the penalty.

    -gamma sum_i sigma(beta sign(received_i) theta_i), where received_i is not zero.
    """
    check(theta_P, received_P)
    check(theta_P, grad_P)
    sign_P = received_P.sign()
    kept_P = torch.sigmoid(beta * sign_P * theta_P) * sign_P.abs()
    grad_P.sub_(gamma * beta * sign_P * kept_P * (1 - kept_P))
    return -gamma * kept_P.double().sum()


def check(first_P: Tensor, second_P: Tensor) -> None:
    """Raise SpecError for shapes that differ, or are not flat."""
    if first_P.shape != second_P.shape or first_P.ndim != 1:
        raise SpecError(
            f"shapes {tuple(first_P.shape)} and {tuple(second_P.shape)}: need the same flat one"
        )
