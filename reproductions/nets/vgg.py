"""VGG-11 and VGG-16 for small images, of any width, with or without batch norm.

Standard configurations of arXiv 1409.1556 (A and D). Convolutions have a bias also below a
batch norm, as in the public implementations. Deviating for small images: a pooling is left out
where the map has one pixel, and the last map is averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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

CONVS_PER_STAGE = {11: (1, 1, 2, 2, 2), 16: (2, 2, 3, 3, 3)}
WIDTH_FACTORS = (1, 2, 4, 8, 8)
"""Channels of each stage in units of the first's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VGGConfig(ImageConfig):
    """Shape of a VGG."""

    depth: Literal[11, 16]
    """Layers with weights in the original, three of them linear."""
    width: int
    """Channels of the first stage; 64 is the standard."""
    batch_norm: bool
    """Whether a batch norm stands between each convolution and its ReLU."""
    head_width: int = 0
    """Width of the two hidden layers of the original's head (4096 there); 0 for a single layer."""

    def __post_init__(self) -> None:
        ImageConfig.__post_init__(self)
        self.require_positive("width")
        if self.depth not in CONVS_PER_STAGE:
            raise SpecError(f"depth={self.depth}: need one of {list(CONVS_PER_STAGE)}")
        if self.head_width < 0:
            raise SpecError(f"head_width={self.head_width}: need at least 0")

    @property
    def channels(self) -> list[list[int]]:
        """The output channels of each stage's convolutions."""
        counts = CONVS_PER_STAGE[self.depth]
        return [[f * self.width] * n for f, n in zip(WIDTH_FACTORS, counts, strict=True)]


def num_params(config: VGGConfig) -> int:
    """Return the exact number of parameters, running statistics not counted."""
    total, num_in = 0, config.in_channels
    for num_out in (width for stage in config.channels for width in stage):
        total += conv_params(num_in, num_out, 3, bias=True)
        total += 2 * num_out if config.batch_norm else 0
        num_in = num_out
    return total + head_params(num_in, config.head_width, config.num_classes)


class VGG(ImageNet):
    """Stages of 3x3 convolutions, each followed by a 2x2 max pooling; started by `build.draw`."""

    def __init__(
        self, config: VGGConfig, *, generator: torch.Generator, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(config)
        layers: list[nn.Module] = []
        num_in, size = config.in_channels, config.image_size
        with torch.device("meta"):
            for stage in config.channels:
                for num_out in stage:
                    layers.append(nn.Conv2d(num_in, num_out, 3, padding=1))
                    if config.batch_norm:
                        layers.append(nn.BatchNorm2d(num_out))
                    layers.append(nn.ReLU())
                    num_in = num_out
                size = add_pool(layers, size)
            self.convs = nn.Sequential(*layers)
            self.head = wide_head(num_in, config.head_width, dropout=0.0)
            self.classifier = nn.Linear(config.head_width or num_in, config.num_classes)
        materialize(self, generator=generator, device=device)

    def _features(self, x_BCHW: Tensor) -> Tensor:
        features_BD: Tensor = self.head(self.convs(x_BCHW).mean((2, 3)))
        return features_BD
