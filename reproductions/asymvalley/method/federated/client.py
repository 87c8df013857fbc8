"""A client's local training as a function: equal arguments give equal bits, wherever it runs.

Dropout is the exception: it draws from torch's generator, which all threads of a process share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from harness.errors import DataError, SpecError
from reproductions.asymvalley.method.data import class_numbers, numbers
from reproductions.asymvalley.method.federated.algorithms import FedAvg, Memory, Received
from reproductions.asymvalley.method.federated.flat import FlatNet, State


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalSettings:
    """A client's training in one round: SGD with momentum that starts anew each round."""

    epochs: int
    """E; one pass over the client's data each."""
    batch_size: int
    """B; an epoch's last batch holds what is left, and never one sample if it can be helped."""
    min_steps: int
    """A client with fewer steps in E epochs makes this many; 0 asks for none."""
    lr: float
    momentum: float
    weight_decay: float
    clip_norm: float
    """Largest norm of a step's whole gradient, the method's term included."""

    def __post_init__(self) -> None:
        if min(self.epochs, self.batch_size) < 1 or self.min_steps < 0:
            raise SpecError(f"{self}: need epochs and batch_size of at least 1, min_steps >= 0")
        if not (self.lr > 0.0 and self.clip_norm > 0.0):
            raise SpecError(f"{self}: lr and clip_norm must be positive")
        if not (0.0 <= self.momentum < 1.0 and self.weight_decay >= 0.0):
            raise SpecError(f"{self}: need 0 <= momentum < 1 and weight_decay >= 0")


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundSettings:
    """How rounds are made of clients."""

    rounds: int
    """T."""
    participation: float
    """Q: share of clients in a round; at least one takes part."""
    local: LocalSettings

    def __post_init__(self) -> None:
        if self.rounds < 1 or not 0.0 < self.participation <= 1.0:
            raise SpecError(
                f"rounds={self.rounds}, participation={self.participation}: need at least one"
                " round and 0 < participation <= 1"
            )


@dataclass(frozen=True, slots=True)
class ClientData:
    """A client's training set, resident on the device of the net.

    Raises DataError without samples, SpecError for labels that are no class numbers.
    """

    images_SHWC: Tensor
    """Channels last in memory, so that a batch of rows is too."""
    labels_S: Tensor
    """Class numbers, int64; numpy arrays, other whole numbers and one-hot rows are taken, too."""
    num_classes: int = field(init=False)
    """The fewest classes that a net of these labels can have."""

    def __post_init__(self) -> None:
        images = numbers("a client's images", self.images_SHWC)
        labels = class_numbers("a client's labels", self.labels_S)
        if len(labels) == 0 or len(images) != len(labels):
            raise DataError(
                f"a client has {len(images)} images and {len(labels)} labels: it needs at least"
                " one sample, and as many of either"
            )
        object.__setattr__(self, "images_SHWC", images)
        object.__setattr__(self, "labels_S", labels)
        object.__setattr__(self, "num_classes", int(labels.max()) + 1)

    @property
    def images_SCHW(self) -> Tensor:
        return self.images_SHWC.permute(0, 3, 1, 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientResult:
    """What a client hands back."""

    state: State
    memory: Memory
    same_sign_ratio: float
    """Share of parameters whose product with the received ones is above 0."""
    extra_loss: float
    """Mean over steps of the algorithm's own terms."""


def train_client(
    net: FlatNet,
    state: Mapping[str, Tensor],
    data: ClientData,
    memory: Memory,
    *,
    algorithm: FedAvg,
    settings: LocalSettings,
    seed: int,
) -> ClientResult:
    """Train from the global state on a client's data.

    net: scratch space prepared by `algorithm.prepare`; what it held before has no influence.
    memory: the client's from its last turn, empty at its first; it is not changed.
    seed: of the order of samples.
    Raises SpecError for images of another dtype than the net's, or a label beyond its classes.
    Source: paper Algorithm 1, lines of the client.
    """
    _check_dtype(net, data)
    received = algorithm.begin(net, state, data.images_SCHW, memory)
    net.load(state)
    net.module.train()
    velocity_N = torch.zeros_like(net.theta_N)
    extra = torch.zeros((), dtype=net.theta_N.dtype, device=net.theta_N.device)
    num_steps = 0
    for rows_B, images, labels in _batches(data, settings, seed):
        extra += _gradient(net, algorithm, received, rows_B, images, labels, data.num_classes)
        _sgd_step(net, velocity_N, settings)
        num_steps += 1
    kept = (net.theta_N * received.theta_N > 0.0).sum()
    return ClientResult(
        state=net.state(),
        memory=algorithm.end(net, received),
        same_sign_ratio=int(kept) / net.theta_N.numel(),
        extra_loss=float(extra) / num_steps,
    )


def _check_dtype(net: FlatNet, data: ClientData) -> None:
    images, weights = data.images_SHWC.dtype, net.theta_N.dtype
    if images != weights:
        raise SpecError(f"a client's images are {images} and its net {weights}: need one of them")


def _batches(
    data: ClientData, settings: LocalSettings, seed: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield row numbers, images (B, C, H, W) and labels, over as many epochs as are needed."""
    cuts = _cuts(len(data.labels_S), settings.batch_size)
    num_steps = max(settings.epochs * len(cuts), settings.min_steps)
    generator = torch.Generator().manual_seed(seed)
    for first in range(0, num_steps, len(cuts)):
        order_S = torch.randperm(len(data.labels_S), generator=generator).to(data.labels_S.device)
        # One gather an epoch; batches are then views.
        images_SHWC, labels_S = data.images_SHWC[order_S], data.labels_S[order_S]
        for rows in cuts[: num_steps - first]:
            yield order_S[rows], images_SHWC[rows].permute(0, 3, 1, 2), labels_S[rows]


def _cuts(count: int, batch_size: int) -> list[slice]:
    """Return an epoch's batches; a last sample that is left alone joins the batch before it.

    One sample has no variance where the map is one pixel, and batch norm refuses it.
    """
    starts = list(range(0, count, batch_size))
    if len(starts) > 1 and count - starts[-1] == 1:
        del starts[-1]
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]


def _gradient(
    net: FlatNet,
    algorithm: FedAvg,
    received: Received,
    rows_B: Tensor,
    images: Tensor,
    labels_B: Tensor,
    num_classes: int,
) -> Tensor:
    """Put the gradient of the whole loss into the net; return the algorithm's own part of it."""
    net.grad_N.zero_()
    module: Any = net.module
    features_BD = module.features(images)
    logits_BC = module.classifier(features_BD)
    if logits_BC.shape[1] < num_classes:
        raise SpecError(
            f"a client has label {num_classes - 1}, and the net {logits_BC.shape[1]} classes: they"
            " count from 0"
        )
    loss = F.cross_entropy(logits_BC, labels_B)
    extra = torch.zeros_like(loss.detach())
    batch_term = algorithm.batch_term(features_BD, rows_B, received)
    if batch_term is not None:
        loss = loss + batch_term
        extra += batch_term.detach()
    torch.autograd.backward(loss)
    weight_term = algorithm.add_weight_gradient_(net.grad_N, net.theta_N, received)
    return extra if weight_term is None else extra + weight_term


def _sgd_step(net: FlatNet, velocity_N: Tensor, settings: LocalSettings) -> None:
    """Clip, decay, and step as torch.optim.SGD does; no device is waited for."""
    gradient_N = net.grad_N
    norm = torch.linalg.vector_norm(gradient_N)
    gradient_N.mul_((settings.clip_norm / (norm + 1e-6)).clamp(max=1.0))
    gradient_N.add_(net.theta_N, alpha=settings.weight_decay)
    velocity_N.mul_(settings.momentum).add_(gradient_N)
    net.theta_N.sub_(velocity_N, alpha=settings.lr)
