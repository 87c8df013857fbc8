"""Nets as functions of weights are those of torch's modules."""

from __future__ import annotations

import torch
from torch import nn

from reproductions.fg2u.method.trees import num_entries
from reproductions.fg2u.models.convnet import ConvNet

SMALL = ConvNet(width=3, num_blocks=2, image_size=9, channels=2)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def modules(net: ConvNet) -> nn.Sequential:
    layers: list[nn.Module] = []
    num_in = net.channels
    for _ in range(net.num_blocks):
        norm = nn.InstanceNorm2d(net.width, affine=True)
        layers += [nn.Conv2d(num_in, net.width, 3, padding=1), nn.ReLU(), norm, nn.AvgPool2d(2)]
        num_in = net.width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(net.num_features, 10))


def test_the_convnet_is_that_of_torch_s_layers() -> None:
    weights = [w + 0.1 * drawn(*w.shape) for w in SMALL.drawn(torch.Generator().manual_seed(1))]
    theirs = modules(SMALL)
    with torch.no_grad():
        for parameter, weight in zip(theirs.parameters(), weights, strict=True):
            parameter.copy_(weight)
    x_BCHW = drawn(4, 2, 9, 9, seed=2)
    assert torch.allclose(SMALL.scores(weights, x_BCHW), theirs(x_BCHW), atol=1e-6)
    assert SMALL.num_weights == num_entries(weights)
