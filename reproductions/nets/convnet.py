"""A convolutional net of four layers, small enough to be trained by many clients.

Each block has a place for a module between its norm and its ReLU, where position-aware neurons
(arXiv 2203.14666) add their encodings.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reproductions.nets.build import (
    ImageConfig,
    ImageNet,
    conv_params,
    linear_params,
    materialize,
)

WIDTH_FACTORS = (1, 2, 4, 4)
"""Channels of each block in units of the first's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvNetConfig(ImageConfig):
    """Shape of a small convolutional net."""

    width: int
    """Channels of the first block; the others have 2, 4 and 4 times it."""
    batch_norm: bool
    """Whether a batch norm stands between each convolution and its ReLU."""

    def __post_init__(self) -> None:
        ImageConfig.__post_init__(self)
        self.require_positive("width")


def num_params(config: ConvNetConfig) -> int:
    """Return the exact number of parameters, running statistics not counted.

    With C channels in and width w: 9 C w + 234 w^2 of kernels, 11 w of biases, 22 w of norms.
    """
    w = config.width
    convs = conv_params(config.in_channels, w, 3, bias=False) + 9 * (2 + 8 + 16) * w * w
    per_channel = 3 if config.batch_norm else 1
    return convs + per_channel * 11 * w + linear_params(4 * w, config.num_classes)


class ConvBlock(nn.Module):
    """conv, norm, position, act, pool, in this order; what is switched off is an identity."""

    position: nn.Module
    """Between norm and ReLU; an identity until a method puts its own module here."""

    def __init__(self, num_in: int, num_out: int, *, batch_norm: bool, pool: bool) -> None:
        super().__init__()
        # With a bias also below a batch norm: the switch then changes the norm and nothing else.
        self.conv = nn.Conv2d(num_in, num_out, 3, padding=1)
        self.norm = nn.BatchNorm2d(num_out) if batch_norm else nn.Identity()
        self.position = nn.Identity()
        self.act = nn.ReLU()
        self.pool = nn.MaxPool2d(2) if pool else nn.Identity()

    def forward(self, x_BCHW: Tensor) -> Tensor:
        x_BCHW = self.pool(self.act(self.position(self.norm(self.conv(x_BCHW)))))
        return x_BCHW


class ConvNet(ImageNet):
    """Four blocks, 2x2 max poolings after the first three, a linear layer on the averaged map.

    A pooling is left out where the map has one pixel. Started by `build.draw`.
    """

    def __init__(
        self,
        config: ConvNetConfig,
        *,
        generator: torch.Generator,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(config)
        self.blocks = nn.Sequential()
        num_in, size = config.in_channels, config.image_size
        with torch.device("meta"):
            for i, factor in enumerate(WIDTH_FACTORS):
                pool = i < 3 and size > 1
                num_out = factor * config.width
                self.blocks.append(
                    ConvBlock(num_in, num_out, batch_norm=config.batch_norm, pool=pool)
                )
                num_in, size = num_out, size // 2 if pool else size
            self.classifier = nn.Linear(num_in, config.num_classes)
        materialize(self, generator=generator, device=device)

    def _features(self, x_BCHW: Tensor) -> Tensor:
        features_BD: Tensor = self.blocks(x_BCHW).mean((2, 3))
        return features_BD
