"""A plain net of tanh layers, as a function of a list of weights."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor


def scores(weights: list[Tensor], images: Tensor) -> Tensor:
    """Return the scores of classes, shape (number of images, classes), with an axis before for
    each of several nets where weights have one."""
    x = images.flatten(1)
    for weight in weights[:-1]:
        x = torch.tanh(x @ weight.mT)
    return x @ weights[-1].mT


@dataclass(frozen=True, kw_only=True, slots=True)
class Mlp:
    """Linear layers with tanh between them, without biases."""

    sizes: tuple[int, ...]
    """Inputs, units of each layer, classes."""

    @property
    def num_weights(self) -> int:
        """All parameters.

        >>> Mlp(sizes=(196, 64, 10)).num_weights
        13184
        """
        return sum(before * after for before, after in itertools.pairwise(self.sizes))

    def drawn(
        self, generator: torch.Generator, *nets: int, dtype: torch.dtype | None = None
    ) -> list[Tensor]:
        """Return initial weights: normal, of variance 1 over fan-in; or those of several nets."""
        return [
            torch.randn(*nets, after, before, generator=generator, dtype=dtype) / before**0.5
            for before, after in itertools.pairwise(self.sizes)
        ]

    def scores(self, weights: list[Tensor], images: Tensor) -> Tensor:
        """Return the scores of classes, shape (number of images, classes)."""
        return scores(weights, images)
