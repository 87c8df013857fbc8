"""A model's pass over images as users have them, and the logits of what it returns."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from harness.errors import SpecError


def outputs(model: nn.Module, images: Tensor) -> Any:
    """Return what a model makes of a batch, moved to its device and, if floating, to its dtype.

    Raises SpecError where it does not take bytes.
    """
    like = next((p for p in model.parameters() if p.is_floating_point()), None)
    if like is not None:
        dtype = like.dtype if images.is_floating_point() else images.dtype
        images = images.to(device=like.device, dtype=dtype)
    try:
        return model(images)
    except RuntimeError as error:
        if images.dtype is not torch.uint8:
            raise
        raise SpecError(
            "the model does not take images of bytes: scale and normalise them as it was trained"
        ) from error


def logits(model: nn.Module, images: Tensor, *, num_classes: int) -> Tensor:
    """Return a model's logits, shape (N, C) with C at least `num_classes`, float32.

    Of an output with `logits`, as Hugging Face's models return, those are taken.
    Raises SpecError for other outputs, and for fewer classes.
    """
    output = outputs(model, images)
    found = output if isinstance(output, Tensor) else getattr(output, "logits", None)
    if not isinstance(found, Tensor):
        raise SpecError(
            f"the model returns a {type(output).__name__}: need logits, or an output that has"
            " `logits`"
        )
    if found.dim() != 2 or len(found) != len(images):
        raise SpecError(
            f"the model's logits of {len(images)} images have shape {tuple(found.shape)}: need"
            " (images, classes)"
        )
    if found.shape[1] < num_classes:
        raise SpecError(
            f"a label is {num_classes - 1}, and the model has {found.shape[1]} classes: they count"
            " from 0"
        )
    return found.float()
