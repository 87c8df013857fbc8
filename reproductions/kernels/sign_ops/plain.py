"""FedSign's penalty with its gradient, in plain torch: what the kernel is held against.

Source: "Exploring and Exploiting the Asymmetric Valley" (arXiv 2405.12489v4), section 6.2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from harness.errors import SpecError


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
