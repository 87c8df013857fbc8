"""AlexNet for small images: five 3x3 convolutions and a head of one or three layers.

Channels 64, 192, 384, 256, 256 as in torchvision's AlexNet. For small maps every kernel is 3x3, the
first with a stride of 2, and the poolings are 2x2; one is left out where the map has one pixel.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.nets.build import (
    ImageConfig,
    ImageNet,
    add_pool,
    conv_params,
    head_params,
    materialize,
    wide_head,
)

WIDTH_FACTORS = (1, 3, 6, 4, 4)
"""Channels of each convolution in units of the first's."""
POOLED = (0, 1, 4)
"""The convolutions with a pooling behind them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlexNetConfig(ImageConfig):
    """Shape of an AlexNet; it has no batch norm."""

    width: int
    """Channels of the first convolution; 64 is the standard."""
    head_width: int
    """Width of the two hidden layers of the head (4096 in the original); 0 for a single layer."""
    dropout: float = 0.0
    """Share of hidden head units dropped in training, in [0, 1); drawn from the global state."""

    def __post_init__(self) -> None:
        ImageConfig.__post_init__(self)
        self.require_positive("width")
        if self.head_width < 0:
            raise SpecError(f"head_width={self.head_width}: need at least 0")
        if not 0.0 <= self.dropout < 1.0:
            raise SpecError(f"dropout={self.dropout}: need 0 <= dropout < 1")


def num_params(config: AlexNetConfig) -> int:
    """Return the exact number of parameters."""
    total, num_in = 0, config.in_channels
    for factor in WIDTH_FACTORS:
        total += conv_params(num_in, factor * config.width, 3, bias=True)
        num_in = factor * config.width
    size = (config.image_size + 1) // 2
    for _ in POOLED:
        size = max(1, size // 2)
    return total + head_params(num_in * size * size, config.head_width, config.num_classes)


class AlexNet(ImageNet):
    """Convolutions with ReLU, then fully connected layers; started by `build.draw`."""

    def __init__(
        self,
        config: AlexNetConfig,
        *,
        generator: torch.Generator,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(config)
        layers: list[nn.Module] = []
        num_in, size = config.in_channels, config.image_size
        with torch.device("meta"):
            for i, factor in enumerate(WIDTH_FACTORS):
                stride = 2 if i == 0 else 1
                layers.append(nn.Conv2d(num_in, factor * config.width, 3, stride, padding=1))
                layers.append(nn.ReLU())
                num_in, size = factor * config.width, (size + stride - 1) // stride
                if i in POOLED:
                    size = add_pool(layers, size)
            self.convs = nn.Sequential(*layers)
            num_in *= size * size
            self.head = wide_head(num_in, config.head_width, config.dropout)
            self.classifier = nn.Linear(config.head_width or num_in, config.num_classes)
        materialize(self, generator=generator, device=device)

    def _features(self, x_BCHW: Tensor) -> Tensor:
        features_BD: Tensor = self.head(self.convs(x_BCHW).flatten(1))
        return features_BD
