"""Statistics of batch normalisation along a walk: re-estimated, frozen, or there are none.

The paper clears the running statistics at every point and estimates them again in a forward pass
(appendix A.3); without that both sides of every valley explode.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.asymvalley.method.data import images_and_labels, numbers, outputs
from reproductions.asymvalley.method.directions import BN_STATS, BnStats
from reproductions.asymvalley.method.layout import BatchNorm, check_made


def batch_norms(model: nn.Module) -> list[BatchNorm]:
    """Return a model's batch normalisations that keep running statistics."""
    return [m for m in model.modules() if isinstance(m, BatchNorm) and m.track_running_stats]


def check_statistics(model: nn.Module, bn_stats: BnStats) -> None:
    """Raise SpecError unless a mode of statistics fits a model, and those that stay are finite."""
    if bn_stats not in BN_STATS:
        raise SpecError(f"bn_stats={bn_stats!r}: need one of {', '.join(BN_STATS)}")
    has_any = bool(batch_norms(model))
    if has_any == (bn_stats == "none"):
        needed = "recalibrate or frozen" if has_any else "none"
        raise SpecError(
            f"bn_stats={bn_stats!r} for a model {'with' if has_any else 'without'} batch"
            f" normalisation: say {needed}"
        )
    for name, buffer in model.named_buffers():
        # Masks of attention are -inf, and stay what they are.
        if bn_stats == "frozen" and not (buffer.isfinite() | (buffer == -math.inf)).all():
            raise SpecError(
                f"{name} is not finite, and bn_stats='frozen' keeps it: say recalibrate, or hand in"
                " a model that has not diverged"
            )


@torch.no_grad()
def recalibrate(model: nn.Module, batches: Iterable[Any]) -> None:
    """Estimate the running statistics again, in place, from batches of images.

    batches: of a loader, labels and all, or tensors; one tensor is one batch. A last batch of one
    image, which has no variance where a map is one pixel, joins the batch before it.
    Each batch weighs as many images as it has: the mean of the first layer is that of all images
    to rounding, whatever the batches; every variance is the mean of the batches' unbiased
    variances, that of all images where there is one batch. Everything but batch normalisation is
    in evaluation mode, so dropout is off; afterwards the whole model is.
    Raises SpecError without images, or for a batch of one that has no variance.
    """
    check_made(model)
    num_seen = 0
    with _estimating(model) as norms:
        for images in _without_lone_last(batches):
            num_seen += len(images)
            for norm in norms:
                norm.momentum = len(images) / num_seen
            _pass(model, images)
    if num_seen == 0:
        raise SpecError("no images to estimate the statistics from: hand in at least one batch")


@contextmanager
def _estimating(model: nn.Module) -> Iterator[list[BatchNorm]]:
    """Have batch normalisation alone in training mode, its statistics cleared; then nothing.

    SyncBatchNorm sees the images of this process: it would wait for ranks that do not walk, and
    where there are ranks it refuses a CPU.
    """
    norms = batch_norms(model)
    momenta = [norm.momentum for norm in norms]
    synced = [norm for norm in norms if isinstance(norm, nn.SyncBatchNorm)]
    model.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.train()
    for norm in synced:
        norm.forward = MethodType(BatchNorm.forward, norm)  # type: ignore[method-assign]
    try:
        yield norms
    finally:
        for norm in synced:
            del norm.forward
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        model.eval()


def _without_lone_last(batches: Iterable[Any]) -> Iterator[Tensor]:
    """Yield the images of batches that have any; a last one alone joins those before it."""
    held: list[Tensor] = []
    for batch in [batches] if isinstance(batches, (Tensor, np.ndarray)) else batches:
        images = numbers("a batch", images_and_labels(batch)[0])
        if len(images) == 0:
            continue
        if len(held) == 2:
            yield held.pop(0)
        held.append(images)
    yield from [torch.cat(held)] if held and len(held[-1]) == 1 else held


def _pass(model: nn.Module, images: Tensor) -> None:
    try:
        outputs(model, images)
    except ValueError as error:
        if "more than 1 value per channel" not in str(error):
            raise
        raise SpecError(
            "a batch of one image has no variance: estimate statistics from batches of two or more"
        ) from error
