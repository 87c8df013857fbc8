"""Noises and special directions in parameter space (section 4.1).

Every draw follows from (seed, kind, draw): the raw and the sign-consistent row of a figure share
it, and adding a draw moves no other.
"""

from __future__ import annotations

import torch
from torch import Tensor

from harness.errors import SpecError
from harness.store.seeds import derive_seed
from reproductions.asymvalley.method.directions import DIRECTIONS, NOISES, Direction, Noise
from reproductions.asymvalley.method.layout import Layout


def draw_noise(kind: Noise, size: int, *, seed: int, draw: int) -> Tensor:
    """Return i.i.d. noise, shape (size,), float32.

    kind: one of `NOISES`; G(a, b) has mean a and standard deviation b.
    """
    generator = torch.Generator().manual_seed(
        derive_seed("noise", {"seed": seed, "kind": kind, "draw": draw})
    )
    match kind:
        case "gaussian":
            return torch.randn(size, generator=generator)
        case "uniform":
            return torch.rand(size, generator=generator) * 2.0 - 1.0
        case "ternary":
            return torch.randint(-1, 2, (size,), generator=generator).float()
        case "gaussian_mean1":
            return torch.randn(size, generator=generator) + 1.0
        case "uniform01":
            return torch.rand(size, generator=generator)
        case "binary":
            return torch.randint(0, 2, (size,), generator=generator).float()
        case "ones":
            return torch.ones(size)
        case _:
            raise SpecError(f"noise {kind!r}: need one of {', '.join(NOISES)}")


def sign(vector_P: Tensor) -> Tensor:
    """Return +1 where a coordinate is positive, else -1: zero goes to -1 (Listing 2)."""
    return torch.where(vector_P > 0, 1.0, -1.0).to(vector_P.dtype)


def sgp(vector_P: Tensor) -> Tensor:
    """Return 1 where a coordinate is positive, else 0."""
    return (vector_P > 0).to(vector_P.dtype)


def sign_consistent(noise_P: Tensor, weights_P: Tensor) -> Tensor:
    """Return |eps| * sign(theta_f), the noise with the signs of the weights (section 4.1).

    Raises SpecError for shapes that differ.
    """
    if noise_P.shape != weights_P.shape:
        raise SpecError(f"noise of shape {tuple(noise_P.shape)} for {len(weights_P)} weights")
    return noise_P.abs() * sign(weights_P)


def partly_consistent(
    noise_P: Tensor, weights_P: Tensor, uniform_P: Tensor, ratio: float
) -> Tensor:
    """Return noise of which a share `ratio` has the signs of the weights (Figure 4).

    uniform_P: one draw from U(0,1) per coordinate; a coordinate takes the weight's sign where its
    draw is below `ratio`, so the changed sets of growing ratios are nested.
    """
    if not 0.0 <= ratio <= 1.0:
        raise SpecError(f"ratio={ratio}: need a share between 0 and 1")
    return torch.where(uniform_P < ratio, sign_consistent(noise_P, weights_P), noise_P)


def special_direction(
    name: Direction, weights_P: Tensor, initial_P: Tensor, layout: Layout
) -> Tensor:
    """Return one of the six directions made of the weights themselves (Figure 5).

    weights_P: theta_f; initial_P: theta_0, the weights before the first step.
    """
    match name:
        case "theta_0":
            return initial_P.clone()
        case "theta_f":
            return weights_P.clone()
        case "sign":
            return sign(weights_P)
        case "sign_centred":
            return sign(_centred(weights_P, layout))
        case "sgp":
            return sgp(weights_P)
        case "sgp_centred":
            return sgp(_centred(weights_P, layout))
        case _:
            raise SpecError(f"direction {name!r}: need one of {', '.join(DIRECTIONS)}")


def _centred(weights_P: Tensor, layout: Layout) -> Tensor:
    """Take the mean of each parameter tensor away."""
    centred = weights_P.clone()
    for view in layout.split(centred).values():
        view -= view.mean()
    return centred
