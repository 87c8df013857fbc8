"""A tiny net with batch norm and unlike clients, for tests of federated learning."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from reproductions.asymvalley.method.federated.client import (
    ClientData,
    LocalSettings,
    RoundSettings,
)
from reproductions.asymvalley.method.federated.flat import FlatNet

CHANNELS, SIDE, CLASSES = 2, 4, 3
LOCAL = LocalSettings(
    epochs=2,
    batch_size=8,
    min_steps=0,
    lr=0.1,
    momentum=0.9,
    weight_decay=1e-3,
    clip_norm=100.0,
)
ROUNDS = RoundSettings(rounds=3, participation=0.5, local=LOCAL)


class SmallNet(nn.Module):
    """One convolution with batch norm and a position slot, and a classifier."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(CHANNELS, 5, 3)
        self.norm = nn.BatchNorm2d(5)
        self.position = nn.Identity()
        self.classifier = nn.Linear(5, CLASSES)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(0.0, 0.5, generator=generator)

    def features(self, x_BCHW: Tensor) -> Tensor:
        return self.position(self.norm(self.conv(x_BCHW))).relu().mean((2, 3))

    def forward(self, x_BCHW: Tensor) -> Tensor:
        return self.classifier(self.features(x_BCHW))


def client(count: int, seed: int) -> ClientData:
    """Return `count` random samples."""
    generator = torch.Generator().manual_seed(seed)
    return ClientData(
        torch.randn(count, SIDE, SIDE, CHANNELS, generator=generator),
        torch.randint(CLASSES, (count,), generator=generator),
    )


def clients(sizes: Sequence[int] = (9, 20, 33, 17)) -> list[ClientData]:
    """Return clients of unlike sizes; two leave a single sample after full batches."""
    return [client(size, seed) for seed, size in enumerate(sizes)]


def flat(seed: int = 0) -> FlatNet:
    return FlatNet(SmallNet(seed))


def vector(count: int, seed: int) -> Tensor:
    return torch.randn(count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
