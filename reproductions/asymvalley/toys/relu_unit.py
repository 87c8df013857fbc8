"""One simulated ReLU unit under sign-consistent noise (appendix D.2, Listing 1, Figure 27).

A weight that gradients pushed towards its input h is modelled as w = a h + delta with Gaussian
delta; the unit's input under noise is (w + l sign(w))^T h. Axes: N draws, D inputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from reproductions.asymvalley.method.noise import sign


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitDraws:
    """A fixed input and draws of a weight that correlates with it."""

    input_D: Tensor
    """h, float64."""
    pull: float
    """a, how far the weight was pulled towards h."""
    plain_N: Tensor
    """w^T h of every draw."""
    push_N: Tensor
    """sign(w)^T h of every draw: the noise of size 1 changes the pre-activation by this much."""


def draw_unit(
    *, num_inputs: int, num_draws: int, pull: float, generator: torch.Generator
) -> UnitDraws:
    """Draw h ~ G(0,1)^D once, then `num_draws` weights w = pull h + delta, delta ~ G(0,1)^D.

    Source: appendix D.2; the number of inputs is ours (DEV-11), the paper prints it only in a
    picture of its code.
    """
    input_D = torch.randn(num_inputs, generator=generator, dtype=torch.float64)
    delta_ND = torch.randn(num_draws, num_inputs, generator=generator, dtype=torch.float64)
    weight_ND = pull * input_D + delta_ND
    return UnitDraws(
        input_D=input_D,
        pull=pull,
        plain_N=weight_ND @ input_D,
        push_N=sign(weight_ND) @ input_D,
    )


def pre_activation(unit: UnitDraws, size: float) -> Tensor:
    """Return (w + size * sign(w))^T h of every draw, shape (N,)."""
    return unit.plain_N + size * unit.push_N


def expected_pre_activation(unit: UnitDraws, size: float) -> float:
    """Return the mean of the pre-activation in closed form.

    w_i ~ G(a h_i, 1) is positive with probability Phi(a h_i), so E sign(w_i) = 2 Phi(a h_i) - 1
    and the mean is sum_i h_i (a h_i + l (2 Phi(a h_i) - 1)).
    """
    mean_D = unit.pull * unit.input_D
    signs_D = 2.0 * torch.special.ndtr(mean_D) - 1.0
    return float((unit.input_D * (mean_D + size * signs_D)).sum())


def summary(values_N: Tensor) -> dict[str, float]:
    """Return mean, its standard error, the share that is active, and the mean after the ReLU.

    The unit is active where its pre-activation is positive.
    """
    return {
        "mean": float(values_N.mean()),
        "standard_error": float(values_N.std()) / len(values_N) ** 0.5,
        "active": float((values_N > 0).double().mean()),
        "mean_output": float(values_N.clamp(min=0.0).mean()),
    }


def density(values_N: Tensor, *, low: float, width: float, num_bins: int) -> list[float]:
    """Return the share of values per unit of length in `num_bins` bins upward from `low`.

    What lies outside is in no bin but counts in the share, so the bins sum to at most 1 / width.

    >>> density(torch.tensor([0.5, 1.5, 1.7, 9.0]), low=0.0, width=1.0, num_bins=2)
    [0.25, 0.5]
    """
    bins_N = torch.floor((values_N - low) / width)
    inside = (bins_N >= 0) & (bins_N < num_bins)
    counts = torch.bincount(bins_N[inside].long(), minlength=num_bins)
    return [int(count) / (len(values_N) * width) for count in counts]
