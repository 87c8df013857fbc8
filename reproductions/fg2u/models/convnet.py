"""The paper's ConvNet for condensed images, as a function of a list of weights.

Its layers are the released code's: blocks of conv 3x3, ReLU, instance norm with scale and shift,
average pooling 2x2, then a linear layer. Four weights per block, two at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv2d, instance_norm

NUM_CLASSES = 10
PER_BLOCK = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvNet:
    """Shape of the net."""

    width: int
    """Channels of every block."""
    num_blocks: int
    image_size: int
    """Pixels per side; each block halves it, what is odd is cut off."""
    channels: int
    """Of an image."""

    @property
    def num_features(self) -> int:
        """Inputs of the linear layer."""
        return self.width * (self.image_size // 2**self.num_blocks) ** 2

    @property
    def num_weights(self) -> int:
        """All parameters.

        >>> ConvNet(width=128, num_blocks=3, image_size=32, channels=3).num_weights
        320010
        """
        convs = 9 * self.width * (self.channels + (self.num_blocks - 1) * self.width)
        linear = NUM_CLASSES * (self.num_features + 1)
        return convs + 3 * self.width * self.num_blocks + linear

    def drawn(self, generator: torch.Generator) -> list[Tensor]:
        """Return initial weights: normal, of variance 2 over fan-in; norms of scale 1, shift 0."""
        return list(self._weights(generator))

    def _weights(self, generator: torch.Generator) -> Iterator[Tensor]:
        num_in = self.channels
        for _ in range(self.num_blocks):
            kernel = torch.randn(self.width, num_in, 3, 3, generator=generator)
            yield kernel * (2.0 / (9 * num_in)) ** 0.5
            yield torch.zeros(self.width)
            yield torch.ones(self.width)
            yield torch.zeros(self.width)
            num_in = self.width
        linear = torch.randn(NUM_CLASSES, self.num_features, generator=generator)
        yield linear * self.num_features**-0.5
        yield torch.zeros(NUM_CLASSES)

    def scores(self, weights: list[Tensor], x_BCHW: Tensor) -> Tensor:
        """Return the scores of classes, shape (B, 10)."""
        for at in range(0, PER_BLOCK * self.num_blocks, PER_BLOCK):
            kernel, bias, scale, shift = weights[at : at + PER_BLOCK]
            x_BCHW = conv2d(x_BCHW, kernel, bias, padding=1).relu()
            x_BCHW = avg_pool2d(instance_norm(x_BCHW, weight=scale, bias=shift), 2)
        return x_BCHW.flatten(1) @ weights[-2].T + weights[-1]
