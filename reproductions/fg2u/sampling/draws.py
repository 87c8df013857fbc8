"""Estimates from disjoint groups of directions whose slopes are computed once.

Letters: K draws, N entries of phi, b directions per estimate, G groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from reproductions.fg2u.method.directions import Directions, Kind
from reproductions.fg2u.method.forward import Directional
from reproductions.fg2u.method.trees import split
from reproductions.fg2u.models.digits import Instance

CHUNK = 256
"""Directions at a time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """Estimates of one direction each."""

    terms_KN: Tensor
    """w v of each direction."""
    block: int
    """Draws that may share an estimate: all of them, or a permutation of the coordinates."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Errors:
    """How estimates of one number of directions lie around the exact gradient g."""

    square: float
    """Mean of |estimate - g|^2 / |g|^2."""
    cosine: float
    """Root mean square of the cosine with g."""
    least_cosine: float
    mean_error: float
    """|mean of estimates - g| / |g|."""
    num_estimates: int


def sample(
    instance: Instance, method: Directional, kind: Kind, num_draws: int, seed: int
) -> Sample:
    """Compute the slope along each direction once.

    Coordinates come in permutations of all N, each with a seed of its own, up to the same number
    of draws, or one permutation.
    """
    num_meta = instance.phi.numel()
    block = num_meta if kind == "coordinate" else num_draws
    parts = [
        Directions(kind=kind, count=block, num_entries=num_meta, seed=seed + number).rows(
            range(block)
        )
        for number in range(max(num_draws // block, 1))
    ]
    rows_KN = torch.cat(parts).double()
    with torch.no_grad():
        slope_K = torch.cat(
            [
                method.slopes(
                    instance.problem, instance.phi, instance.batch, split(some, instance.phi)
                ).slope_C
                for some in rows_KN.split(CHUNK)
            ]
        )
    return Sample(terms_KN=slope_K[:, None] * rows_KN, block=block)


def errors(found: Sample, exact_N: Tensor, num_directions: int) -> Errors:
    """Group the draws into estimates of b directions, as many as there are."""
    per_block = found.block // num_directions
    blocks = found.terms_KN.unflatten(0, (-1, found.block))[:, : per_block * num_directions]
    estimate_GN = blocks.reshape(-1, num_directions, len(exact_N)).mean(1)
    norm = float(exact_N.norm())
    cosine_G = torch.cosine_similarity(estimate_GN, exact_N[None], dim=1)
    return Errors(
        square=float((estimate_GN - exact_N).square().sum(1).mean()) / norm**2,
        cosine=float(cosine_G.square().mean().sqrt()),
        least_cosine=float(cosine_G.min()),
        mean_error=float((estimate_GN.mean(0) - exact_N).norm()) / norm,
        num_estimates=len(estimate_GN),
    )
