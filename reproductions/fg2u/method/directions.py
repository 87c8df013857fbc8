"""Directions for forward gradients, each a function of (seed, number) alone.

So neither the chunk nor the number of workers changes an estimate. Every kind has
sum_i weight_i v_i v_i^T = I in the mean, or exactly over all N coordinates.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.fg2u.method.trees import Tree, split, tree_map
from reproductions.kernels.backend import chosen, passed_over
from reproductions.kernels.rademacher.plain import signs

Kind = Literal["rademacher", "philox", "gaussian", "coordinate", "gauss-grid"]
"""philox: signs as rademacher's, from a counter in place of a generator, so that a device makes
those of a chunk where it is, and the sum over all of them again, in one pass at the end."""
GRID_NODES, GRID_END = 12, 5.0
"""Per coefficient: equispaced nodes on [-5, 5], as the released PDE code has them."""
MAX_GRID = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Directions:
    """Which directions one estimate is made of."""

    kind: Kind
    count: int
    """b; of `gauss-grid` it is 12 to the power of N."""
    num_entries: int
    """N, the entries of phi."""
    seed: int

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise SpecError(f"directions={self.kind!r}: write one of {', '.join(get_args(Kind))}")
        if self.count < 1:
            raise SpecError(f"num_directions={self.count}: need at least one")
        if self.kind == "coordinate" and self.count > self.num_entries:
            raise SpecError(
                f"num_directions={self.count}: phi has only {self.num_entries} coordinates"
            )

    def rows(self, numbers: Sequence[int], device: torch.device | None = None) -> Tensor:
        """Return directions by their numbers, shape (len(numbers), N).

        They are drawn on the CPU for any device, so that estimates agree between devices; those
        of `philox`, the same bits everywhere, on the device itself. In float32 where they are
        random, else in float64.
        """
        if self.kind == "philox":
            return signs(self.seed, numbers, self.num_entries, device or torch.device("cpu"))
        if self.kind == "coordinate":
            order_N = np.random.default_rng(self.seed).permutation(self.num_entries)
            rows_CN = torch.zeros(len(numbers), self.num_entries, dtype=torch.float64)
            places = torch.from_numpy(order_N)[torch.as_tensor(numbers)]
            rows_CN[torch.arange(len(numbers)), places] = self.num_entries**0.5
            return rows_CN
        if self.kind == "gauss-grid":
            return torch.from_numpy(_grid(self.num_entries)[list(numbers)])
        if self.kind == "rademacher" and device is not None and device.type == "cuda":
            why = "signs drawn on a CPU; a GPU makes those of philox"
            passed_over("rademacher", "torch's sum of directions", why)
        return torch.stack([self._drawn(number) for number in numbers])

    def weights(self, numbers: Sequence[int]) -> Tensor:
        """Return what each direction counts in the sum, float64; all of them sum to one."""
        if self.kind != "gauss-grid":
            return torch.full((len(numbers),), 1.0 / self.count, dtype=torch.float64)
        density_C = np.exp(-0.5 * np.square(_grid(self.num_entries)).sum(1))
        return torch.from_numpy(density_C / density_C.sum())[torch.as_tensor(numbers)]

    def combined(self, weight_C: Tensor, numbers: Sequence[int], phi: Tree) -> Tree:
        """Return the sum of directions, each times its weight, in the shape of `phi`.

        Of `philox` alone: they are made again in one pass, however many chunks they came in, by a
        kernel on CUDA; in plain torch where weights are float64, which kernels sum in float32.
        """
        why_not = "float64" if weight_C.dtype == torch.float64 else ""
        kernel = chosen("rademacher", weight_C.device, why_not=why_not)
        flat_N = kernel.combine(weight_C, self.seed, numbers, self.num_entries)
        return tree_map(lambda leaf: leaf[0], split(flat_N[None], phi))

    def _drawn(self, number: int) -> Tensor:
        words = np.random.SeedSequence([self.seed, number]).generate_state(1, np.uint64)
        generator = torch.Generator().manual_seed(int(words[0]))
        if self.kind == "gaussian":
            return torch.randn(self.num_entries, generator=generator)
        return torch.randint(2, (self.num_entries,), generator=generator) * 2.0 - 1.0


@cache
def _grid(num_entries: int) -> np.ndarray:
    nodes = np.linspace(-GRID_END, GRID_END, GRID_NODES)
    return np.array(list(itertools.product(nodes, repeat=num_entries)))


def make_directions(kind: Kind, count: int, num_entries: int, seed: int) -> Directions:
    """Return the directions of one estimate. Raises SpecError for a grid of more than 4096."""
    if kind == "gauss-grid":
        count = GRID_NODES**num_entries
        if count > MAX_GRID:
            raise SpecError(
                f"gauss-grid has {GRID_NODES}^{num_entries} directions: it is for up to"
                f" {int(np.log(MAX_GRID) / np.log(GRID_NODES))} coefficients, use rademacher"
            )
    return Directions(kind=kind, count=count, num_entries=num_entries, seed=seed)
