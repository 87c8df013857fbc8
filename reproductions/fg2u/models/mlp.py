"""A plain net of tanh layers, as a function of a list of weights."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Mlp:
    """Linear layers with tanh between them, without biases."""

    sizes: tuple[int, ...]
    """Inputs, units of each layer, classes."""

    def drawn(self, generator: torch.Generator) -> list[Tensor]:
        """Return initial weights: normal, of variance 1 over fan-in."""
        pairs = itertools.pairwise(self.sizes)
        return [torch.randn(b, a, generator=generator) / a**0.5 for a, b in pairs]

    def scores(self, weights: list[Tensor], images: Tensor) -> Tensor:
        """Return the scores of classes, shape (number of images, classes)."""
        x = images.flatten(1)
        for weight in weights[:-1]:
            x = torch.tanh(x @ weight.T)
        return x @ weights[-1].T
