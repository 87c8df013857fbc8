"""What the image nets share: common fields, layers without storage, the draw of the start.

A net builds its layers on the meta device and gets its storage in `materialize`, so no layer
draws from the global random state. What is drawn follows the order of the modules: equal
generators give equal nets.

Letters in tensor names, here and in the image nets: B images, C channels, H height, W width,
D features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from harness.errors import SpecError

LINEAR_STD = 0.01
"""Spread of a new linear layer's weights."""
TRUNCATED_STD = 0.02
"""Spread of a new vision transformer's weights, before they are cut at two of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageConfig:
    """What every image net is told about its task."""

    num_classes: int
    in_channels: int
    """C: 1 for grey images, 3 for colours."""
    image_size: int
    """Height and width, in pixels."""

    def __post_init__(self) -> None:
        self.require_positive("num_classes", "in_channels", "image_size")

    def require_positive(self, *names: str) -> None:
        """Raise SpecError for a field below 1."""
        for name in names:
            if getattr(self, name) < 1:
                raise SpecError(f"{name}={getattr(self, name)}: need at least 1")


class ImageNet(nn.Module):
    """Features, and a last layer on them that is named `classifier`."""

    def __init__(self, config: ImageConfig) -> None:
        super().__init__()
        self.config = config

    def features(self, x_BCHW: Tensor) -> Tensor:
        """Return the input of the classifier, shape (B, D).

        Raises SpecError for images of another shape than the net was built for.
        """
        expected = (self.config.in_channels, self.config.image_size, self.config.image_size)
        if x_BCHW.ndim != 4 or tuple(x_BCHW.shape[1:]) != expected:
            raise SpecError(
                f"images of shape {tuple(x_BCHW.shape)}: this net was built for"
                f" (batch, *{expected})"
            )
        return self._features(x_BCHW)

    def _features(self, x_BCHW: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x_BCHW: Tensor) -> Tensor:
        """Return the logits, shape (B, num_classes)."""
        logits: Tensor = cast(nn.Linear, self.classifier)(self.features(x_BCHW))
        return logits


def add_pool(layers: list[nn.Module], size: int) -> int:
    """Append a 2x2 max pooling where the map has more than one pixel; return the new size."""
    if size == 1:
        return 1
    layers.append(nn.MaxPool2d(2))
    return size // 2


def wide_head(num_in: int, width: int, dropout: float) -> nn.Sequential:
    """Return the two hidden layers below the classifier of AlexNet and VGG; none at width 0.

    Dropout acts on the output of both hidden layers. Source: Krizhevsky et al. 2012, section 4.2.
    """
    if width == 0:
        return nn.Sequential()
    first = (nn.Linear(num_in, width), nn.ReLU(), nn.Dropout(dropout))
    return nn.Sequential(*first, nn.Linear(width, width), nn.ReLU(), nn.Dropout(dropout))


def conv_params(num_in: int, num_out: int, kernel: int, *, bias: bool) -> int:
    """Return the number of parameters of a square convolution.

    >>> conv_params(3, 64, 3, bias=True)
    1792
    """
    return kernel * kernel * num_in * num_out + (num_out if bias else 0)


def linear_params(num_in: int, num_out: int) -> int:
    """Return the number of parameters of a linear layer with bias.

    >>> linear_params(512, 10)
    5130
    """
    return (num_in + 1) * num_out


def head_params(num_in: int, width: int, num_classes: int) -> int:
    """Return the number of parameters of `wide_head` and the classifier on it."""
    if width == 0:
        return linear_params(num_in, num_classes)
    hidden = linear_params(num_in, width) + linear_params(width, width)
    return hidden + linear_params(width, num_classes)


@torch.no_grad()
def draw(module: nn.Module, generator: torch.Generator) -> None:
    """Draw every layer in the order of `module.modules()`.

    Convolutions: Kaiming-normal by fan-out for ReLU; linear layers: N(0, 0.01^2); biases 0;
    batch norm: weight 1, bias 0, running statistics 0 and 1.
    Raises SpecError for a layer with weights of another kind.
    Source: the authors' public code lxcnju/FedRepo, as the papers name no other start.
    """
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(
                layer.weight, mode="fan_out", nonlinearity="relu", generator=generator
            )
            _zero_bias(layer)
        elif isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, 0.0, LINEAR_STD, generator=generator)
            _zero_bias(layer)
        else:
            _reset_rest(name, layer)


@torch.no_grad()
def draw_truncated(module: nn.Module, generator: torch.Generator) -> None:
    """Draw projections and embeddings from a normal of std 0.02, cut at two of it; biases 0.

    A module's own parameters are drawn before its layers'. Norms start at weight 1, bias 0.
    Source: the reference code of arXiv 2012.12877, whose cut at 2.0 is out of reach; ours binds.
    """
    for name, layer in module.named_modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            _truncated(layer.weight, generator)
            _zero_bias(layer)
        elif isinstance(positions := getattr(layer, "positions", None), nn.Parameter):
            _truncated(positions, generator)
        else:
            _reset_rest(name, layer)


def materialize(
    module: nn.Module,
    *,
    generator: torch.Generator,
    device: torch.device | str,
    how: Callable[[nn.Module, torch.Generator], None] = draw,
) -> None:
    """Give a module built on the meta device its storage and its start.

    It is drawn on the generator's device and then moved: one seed of a CPU generator means the same
    net on every device. On the meta device nothing is drawn.
    """
    device = torch.device(device)
    if device.type == "meta":
        return
    module.to_empty(device=generator.device)
    how(module, generator)
    module.to(device)


def _truncated(weight: Tensor, generator: torch.Generator) -> None:
    cut = 2 * TRUNCATED_STD
    nn.init.trunc_normal_(weight, 0.0, TRUNCATED_STD, -cut, cut, generator=generator)


def _zero_bias(layer: nn.Conv2d | nn.Linear) -> None:
    if layer.bias is not None:
        layer.bias.zero_()


def _reset_rest(name: str, layer: nn.Module) -> None:
    """Start a norm; refuse a layer that would keep the empty storage it was given."""
    if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d, nn.LayerNorm)):
        layer.reset_parameters()
    elif [*layer.parameters(recurse=False), *layer.buffers(recurse=False)]:
        raise SpecError(f"{name or 'the net'} ({type(layer).__name__}): no rule draws its weights")
