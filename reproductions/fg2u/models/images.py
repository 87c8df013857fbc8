"""Images as phi: they train a net, which real images judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.models.convnet import ConvNet
from reproductions.fg2u.models.mlp import Mlp

NUM_CLASSES = 10


class Net(Protocol):
    """A net as a function of a list of weights."""

    def drawn(self, generator: torch.Generator) -> list[Tensor]:
        """Return initial weights."""
        ...

    def scores(self, weights: list[Tensor], images: Tensor) -> Tensor:
        """Return the scores of classes, shape (number of images, 10)."""
        ...


NETS: dict[str, Net] = {
    "mlp-2": Mlp(sizes=(64, 32, 10)),
    "mlp-4": Mlp(sizes=(64, 64, 64, 64, 10)),
    "convnet-16": ConvNet(width=16, num_blocks=2, image_size=8, channels=1),
    "convnet-128": ConvNet(width=128, num_blocks=3, image_size=32, channels=3),
}
"""By the name that parameters of trials have: layers of an MLP, width of a ConvNet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judge:
    """What an outer step is fixed by: initial weights, and the images that judge the last ones."""

    init: list[Tensor]
    images: Tensor
    labels: Tensor


def training_images(net: Net, *, num_steps: int, optimizer: Sgd, inner_batch: int) -> Problem:
    """Return the problem of images as phi, shape (n, C, H, W); i % 10 is image i's class.

    inner_batch: images per inner step, which go through phi in turn; n is a multiple of it.
    """
    digit = torch.arange(inner_batch) % NUM_CLASSES

    def loss(weights: list[Tensor], phi: Tensor, batch: Judge, number: int) -> Tensor:
        at = number * inner_batch % len(phi)
        images = phi[at : at + inner_batch]
        return cross_entropy(net.scores(weights, images), digit.to(images.device))

    def outer(weights: list[Tensor], phi: Tensor, batch: Judge) -> Tensor:
        return cross_entropy(net.scores(weights, batch.images), batch.labels)

    return from_loss(
        start=lambda phi, batch: batch.init,
        loss=loss,
        outer_loss=outer,
        optimizer=optimizer,
        num_steps=num_steps,
    )
