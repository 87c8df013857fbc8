"""Training of image classifiers as the paper trains them (appendix A.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.store.checkpoint import Checkpoints
from reproductions.asymvalley.models.pairs import Training

MOMENTUM = 0.9
CROP_PADDING = 4


def train(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    params: Training,
    *,
    generator: torch.Generator,
    after_epoch: Callable[[int], None] | None = None,
    checkpoint: Path | None = None,
) -> bool:
    """Train in place; return whether the loss stayed finite.

    images: shape (N, C, H, W), labels: (N,), int64, on the model's device.
    generator: of the order of the images and of their augmentation, on the CPU.
    after_epoch: called with the number of epochs done; the model is then as trained so far.
    checkpoint: where the state is kept about every two minutes, after an epoch; if one is there,
    training goes on from it as if it had never stopped.
    """
    steps_per_epoch = math.ceil(len(labels) / params.batch_size)
    optimizer = build_optimizer(model, params)
    kept = Checkpoints(
        checkpoint, model=model, optimizer=optimizer, generators={"batches": generator}
    )
    for epoch in range(kept.resume(), params.epochs):
        rates = [
            cosine_lr(epoch * steps_per_epoch + index, params.epochs * steps_per_epoch, params.lr)
            for index in range(steps_per_epoch)
        ]
        batches = epoch_batches(images, labels, params, generator)
        loss = _train_epoch(model, optimizer, batches, rates)
        if not math.isfinite(loss):
            return False
        if after_epoch is not None:
            after_epoch(epoch + 1)
        kept.keep(epoch + 1)
    model.eval()
    return True


def _train_epoch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
    rates: Sequence[float],
) -> float:
    """Take one step per batch at the learning rates in turn; return the sum of the losses."""
    model.train()
    losses = []
    for (images, labels), rate in zip(batches, rates, strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return float(torch.stack(losses).sum())


def build_optimizer(model: nn.Module, params: Training) -> torch.optim.Optimizer:
    """Return the optimizer of all parameters: weight decay is coupled with SGD, not with AdamW."""
    weights, decay = model.parameters(), params.weight_decay
    if params.optimizer == "adamw":
        return torch.optim.AdamW(weights, lr=params.lr, weight_decay=decay)
    return torch.optim.SGD(weights, lr=params.lr, momentum=MOMENTUM, weight_decay=decay)


def cosine_lr(step: int, num_steps: int, peak: float) -> float:
    """Return the learning rate of a step.

    >>> cosine_lr(0, 10, 0.5), cosine_lr(5, 10, 0.5)
    (0.5, 0.25)
    """
    return peak * 0.5 * (1.0 + math.cos(math.pi * step / num_steps))


def epoch_batches(
    images: Tensor, labels: Tensor, params: Training, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield one epoch in random order, the last batch as short as it is."""
    order = torch.randperm(len(labels), generator=generator).to(labels.device)
    for part in order.split(params.batch_size):
        batch = augmented(images[part], generator) if params.augment else images[part]
        yield batch.contiguous(memory_format=torch.channels_last), labels[part]


def augmented(images: Tensor, generator: torch.Generator) -> Tensor:
    """Return each image cropped at random after padding, and flipped with probability 1/2."""
    count, _, height, width = images.shape
    device = images.device
    padded = F.pad(images, (CROP_PADDING,) * 4)
    span = 2 * CROP_PADDING + 1
    top, left = torch.randint(0, span, (2, count), generator=generator).to(device)
    flip = (torch.rand(count, generator=generator) < 0.5).to(device)
    rows = top[:, None] + torch.arange(height, device=device)
    columns = torch.arange(width, device=device).expand(count, width)
    columns = torch.where(flip[:, None], width - 1 - columns, columns) + left[:, None]
    picked = torch.arange(count, device=device)[:, None, None]
    return padded.permute(0, 2, 3, 1)[picked, rows[:, :, None], columns[:, None, :]].permute(
        0, 3, 1, 2
    )
