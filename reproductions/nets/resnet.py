"""ResNet-20, -32, -44, -56 for CIFAR: three stages of basic blocks, shortcuts without weights.

Source: arXiv 1512.03385, section 4.2. Where a stage halves the map the shortcut takes every second
pixel and pads channels with zeros, half of them on each side (option A). Parameters are named as in
akamaster/pytorch_resnet_cifar10, whose published weights load strictly.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.nets.build import (
    ImageConfig,
    ImageNet,
    conv_params,
    linear_params,
    materialize,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResNetConfig(ImageConfig):
    """Shape of a ResNet for small images; it has batch norm throughout."""

    depth: int
    """Layers with weights: 6 n + 2 for n blocks a stage, as in 20, 32, 44, 56."""
    width: int
    """Channels of the first stage, even; 16 is the standard, the others have 2 and 4 times it."""

    def __post_init__(self) -> None:
        ImageConfig.__post_init__(self)
        self.require_positive("width")
        if self.depth < 8 or self.depth % 6 != 2:
            raise SpecError(f"depth={self.depth}: need 6 n + 2 with n at least 1, as in 20")
        if self.width % 2:
            raise SpecError(f"width={self.width}: need an even number, for the padded shortcuts")

    @property
    def blocks_per_stage(self) -> int:
        """The n of depth = 6 n + 2."""
        return (self.depth - 2) // 6


def num_params(config: ResNetConfig) -> int:
    """Return the exact number of parameters, running statistics not counted."""
    w, n = config.width, config.blocks_per_stage
    stem = conv_params(config.in_channels, w, 3, bias=False) + 2 * w
    # In units of w^2: the first stage's 2 n convolutions; later ones, each with one narrower input.
    convs = 2 * n + (4 * (2 * n - 1) + 2) + (16 * (2 * n - 1) + 8)
    norms = 2 * n * 2 * (w + 2 * w + 4 * w)
    return stem + 9 * w * w * convs + norms + linear_params(4 * w, config.num_classes)


class BasicBlock(nn.Module):
    """Two convolutions and a shortcut; each ReLU is a module, so that a hook can see its units."""

    def __init__(self, num_in: int, num_out: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.padding = (num_out - num_in) // 2
        self.conv1 = nn.Conv2d(num_in, num_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(num_out)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(num_out, num_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(num_out)
        self.relu2 = nn.ReLU()

    def forward(self, x_BCHW: Tensor) -> Tensor:
        y_BCHW: Tensor = self.relu1(self.bn1(self.conv1(x_BCHW)))
        y_BCHW = self.bn2(self.conv2(y_BCHW))
        y_BCHW = self.relu2(y_BCHW + self.shortcut(x_BCHW))
        return y_BCHW

    def shortcut(self, x_BCHW: Tensor) -> Tensor:
        """Return the input in the shape of the output."""
        if self.stride == 1:
            return x_BCHW
        x_BCHW = x_BCHW[:, :, :: self.stride, :: self.stride]
        return F.pad(x_BCHW, (0, 0, 0, 0, self.padding, self.padding))


class ResNet(ImageNet):
    """A stem, three stages, and a linear layer on the averaged map; started by `build.draw`."""

    def __init__(
        self,
        config: ResNetConfig,
        *,
        generator: torch.Generator,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(config)
        w = config.width
        with torch.device("meta"):
            self.conv1 = nn.Conv2d(config.in_channels, w, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(w)
            self.relu = nn.ReLU()
            self.layer1 = _stage(w, w, 1, config.blocks_per_stage)
            self.layer2 = _stage(w, 2 * w, 2, config.blocks_per_stage)
            self.layer3 = _stage(2 * w, 4 * w, 2, config.blocks_per_stage)
            self.linear = nn.Linear(4 * w, config.num_classes)
        materialize(self, generator=generator, device=device)

    @property
    def classifier(self) -> nn.Linear:
        """The last layer; its parameters are named `linear`, as in the published weights."""
        return self.linear

    def _features(self, x_BCHW: Tensor) -> Tensor:
        x_BCHW = self.relu(self.bn1(self.conv1(x_BCHW)))
        features_BD: Tensor = self.layer3(self.layer2(self.layer1(x_BCHW))).mean((2, 3))
        return features_BD


def _stage(num_in: int, num_out: int, stride: int, num_blocks: int) -> nn.Sequential:
    rest = [BasicBlock(num_out, num_out, 1) for _ in range(num_blocks - 1)]
    return nn.Sequential(BasicBlock(num_in, num_out, stride), *rest)
