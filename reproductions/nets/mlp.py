"""A multilayer perceptron on flattened images, with or without batch norm."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reproductions.nets.build import ImageConfig, check_images, linear_params, materialize


@dataclass(frozen=True, kw_only=True, slots=True)
class MLPConfig(ImageConfig):
    """Shape of a multilayer perceptron."""

    width: int
    """Units of each hidden layer."""
    num_hidden: int
    """Hidden layers, below the classifier."""
    batch_norm: bool
    """Whether a batch norm stands between each hidden layer and its ReLU."""

    def __post_init__(self) -> None:
        ImageConfig.__post_init__(self)
        self.require_positive("width", "num_hidden")


def num_params(config: MLPConfig) -> int:
    """Return the exact number of parameters, running statistics not counted."""
    w = config.width
    pixels = config.in_channels * config.image_size**2
    hidden = linear_params(pixels, w) + (config.num_hidden - 1) * linear_params(w, w)
    norms = 2 * w * config.num_hidden if config.batch_norm else 0
    return hidden + norms + linear_params(w, config.num_classes)


class MLP(nn.Module):
    """Linear layers with ReLU; started by `build.draw`."""

    def __init__(
        self, config: MLPConfig, *, generator: torch.Generator, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__()
        self.config = config
        layers: list[nn.Module] = []
        num_in = config.in_channels * config.image_size**2
        with torch.device("meta"):
            for _ in range(config.num_hidden):
                layers.append(nn.Linear(num_in, config.width))
                if config.batch_norm:
                    layers.append(nn.BatchNorm1d(config.width))
                layers.append(nn.ReLU())
                num_in = config.width
            self.hidden = nn.Sequential(*layers)
            self.classifier = nn.Linear(num_in, config.num_classes)
        materialize(self, generator=generator, device=device)

    def features(self, x_BCHW: Tensor) -> Tensor:
        """Return the last hidden layer, shape (B, width)."""
        check_images(x_BCHW, self.config)
        return self.hidden(x_BCHW.flatten(1))

    def forward(self, x_BCHW: Tensor) -> Tensor:
        """Return the logits, shape (B, num_classes)."""
        return self.classifier(self.features(x_BCHW))
