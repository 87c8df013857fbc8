"""FedPAN's encodings: their formula, and where they go."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch

from reproductions.asymvalley.method.federated.positions import (
    encode_channels,
    parse_encoding,
)
from reproductions.nets.convnet import ConvNet, ConvNetConfig
from reproductions.nets.resnet import ResNet, ResNetConfig

SHAPE = {"num_classes": 10, "in_channels": 1, "image_size": 8}
CONVNET = partial(ConvNet, ConvNetConfig(**SHAPE, width=2, batch_norm=True))
RESNET = partial(ResNet, ResNetConfig(**SHAPE, depth=8, width=2))


@pytest.mark.parametrize("operation", ["add", "mul"])
def test_encoding_is_a_sine_over_channels(operation: str) -> None:
    x = torch.randn(2, 6, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    y = parse_encoding(f"4:{operation}:0.25")(x)
    for j in range(6):
        code = 0.25 * math.sin(2 * math.pi * 4 * j / 6)
        expected = x[:, j] + code if operation == "add" else x[:, j] * (1 + code)
        torch.testing.assert_close(y[:, j], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("net", "count"), [(CONVNET, 4), (RESNET, 7)])
def test_every_hidden_layer_is_encoded_and_the_state_keeps_its_names(net, count: int) -> None:
    plain, encoded, silent = (net(generator=torch.Generator().manual_seed(0)) for _ in range(3))
    assert encode_channels(encoded, parse_encoding("1:add:0.5")) == count
    encode_channels(silent, parse_encoding("1:add:0"))
    assert encoded.state_dict().keys() == plain.state_dict().keys()
    x = torch.randn(3, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    assert torch.equal(silent(x), plain(x))
    assert not torch.allclose(encoded(x), plain(x))
