"""Statistics of batch normalisation along a walk: re-estimated, frozen, or there are none.

The paper clears the running statistics at every point and estimates them again in a forward pass
(appendix A.3); without that both sides of every valley explode.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.asymvalley.method.directions import BN_STATS, BnStats
from reproductions.asymvalley.method.layout import BATCH_NORM


def batch_norms(model: nn.Module) -> list[nn.modules.batchnorm._BatchNorm]:
    """Return a model's batch normalisations that keep running statistics."""
    return [m for m in model.modules() if isinstance(m, BATCH_NORM) and m.track_running_stats]


def check_statistics(model: nn.Module, bn_stats: BnStats) -> None:
    """Raise SpecError unless a mode of statistics fits a model."""
    if bn_stats not in BN_STATS:
        raise SpecError(f"bn_stats={bn_stats!r}: need one of {', '.join(BN_STATS)}")
    has_any = bool(batch_norms(model))
    if has_any == (bn_stats == "none"):
        needed = "recalibrate or frozen" if has_any else "none"
        raise SpecError(
            f"bn_stats={bn_stats!r} for a model {'with' if has_any else 'without'} batch"
            f" normalisation: say {needed}"
        )


@torch.no_grad()
def recalibrate(model: nn.Module, batches: Iterable[Tensor]) -> None:
    """Estimate the running statistics again, in place, from batches of images.

    Each batch weighs as many images as it has: the mean of the first layer is that of all images
    to rounding, whatever the batches; every variance is the mean of the batches' unbiased
    variances, that of all images where there is one batch. Everything but batch normalisation is
    in evaluation mode, so dropout is off; afterwards the whole model is.
    """
    norms = batch_norms(model)
    momenta = [norm.momentum for norm in norms]
    model.eval()
    for norm in norms:
        norm.reset_running_stats()
        norm.train()
    num_seen = 0
    for images in batches:
        if len(images) == 0:
            continue
        num_seen += len(images)
        for norm in norms:
            norm.momentum = len(images) / num_seen
        model(images)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    if num_seen == 0:
        raise SpecError("no images to estimate the statistics from: hand in at least one batch")
    model.eval()
