"""What a valley is measured on, as users have it: tensors, arrays, or loaders, and any model.

What can be meant in one way only is taken, and kept as tensors in a fixed order; anything else is
refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from harness.errors import SpecError

LABELS = ("labels", "label")
"""What batches that are mappings call the labels."""
_LOADERS = "; `ValleyData.from_loaders` reads loaders"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ValleyData:
    """What every point of a curve is measured on, in a fixed order.

    Numpy arrays are taken where tensors are; `from_loaders` reads loaders.
    """

    test_images: Tensor
    """Shape (N, ...), as the model takes them. They may lie elsewhere than the model and, where
    they are floating, be of another dtype: each pass moves a batch to the model's."""
    test_labels: Tensor
    """Shape (N,), int64, counted from 0. Other whole numbers and one-hot rows are taken, too."""
    statistics_images: Tensor | None = None
    """Images from which statistics of batch normalisation are estimated again; a training split
    (DEV-05)."""
    batch_size: int = 250
    num_classes: int = field(init=False)
    """The fewest classes that a model of these labels can have."""

    def __post_init__(self) -> None:
        images = numbers("test_images", self.test_images, hint=_LOADERS)
        labels, statistics = class_numbers("test_labels", self.test_labels), self.statistics_images
        if len(images) != len(labels) or not len(labels):
            raise SpecError(
                f"{len(images)} test images with {len(labels)} labels: need as many of both, and"
                " at least one"
            )
        if self.batch_size < 1:
            raise SpecError(f"batch_size={self.batch_size}: need at least 1")
        object.__setattr__(self, "test_images", images)
        object.__setattr__(self, "test_labels", labels)
        object.__setattr__(self, "num_classes", int(labels.max()) + 1)
        if statistics is not None:
            statistics = numbers("statistics_images", statistics, hint=_LOADERS)
            object.__setattr__(self, "statistics_images", statistics)

    @classmethod
    def from_loaders(
        cls, test: Iterable[Any], *, statistics: Iterable[Any] | None = None, batch_size: int = 250
    ) -> ValleyData:
        """Read loaders once and keep all they hold in memory, so that every point sees the same.

        test: gives batches of (images, labels), or mappings of one input and its `labels`, as
        Hugging Face has them. statistics: gives such batches, or images alone.
        batch_size: of a curve's passes, whatever the loaders have.
        Raises SpecError for other batches, or a loader that gives none.
        """
        pairs = [images_and_labels(batch) for batch in test]
        if any(labels is None for _, labels in pairs):
            raise SpecError("the test loader gives images without labels: need (images, labels)")
        return cls(
            test_images=_joined("test", [images for images, _ in pairs]),
            test_labels=_joined("test", [labels for _, labels in pairs]),
            statistics_images=None
            if statistics is None
            else _joined("statistics", [images_and_labels(batch)[0] for batch in statistics]),
            batch_size=batch_size,
        )


def numbers(name: str, given: object, *, hint: str = "") -> Tensor:
    """Return a tensor or numpy array as a tensor. Raises SpecError for anything else."""
    if isinstance(given, np.ndarray) and given.dtype.kind in "biuf":
        # A copy: torch takes no negative strides, and warns of arrays that are only read.
        given = torch.tensor(np.ascontiguousarray(given))
    if not isinstance(given, Tensor) or given.dim() == 0:
        raise SpecError(
            f"{name}: {type(given).__name__} found, need a tensor or a numpy array of numbers with"
            f" an entry per image{hint}"
        )
    return given


def class_numbers(name: str, given: object) -> Tensor:
    """Return labels as class numbers, shape (N,), int64.

    given: such numbers of any whole type, or one-hot rows, shape (N, classes), of any type.
    Raises SpecError for other ones, soft labels among them, and for a negative number, which
    cross-entropy would pass over.
    """
    labels = numbers(name, given)
    if labels.dim() == 2 and labels.shape[1] > 1 and _is_one_hot(labels):
        labels = labels.long().argmax(dim=1)
    if labels.dim() != 1 or labels.is_floating_point() or labels.is_complex():
        raise SpecError(
            f"{name} of shape {tuple(labels.shape)} and {labels.dtype}: need whole numbers of"
            " shape (N,), or one-hot rows"
        )
    labels = labels.long()
    if len(labels) and int(labels.min()) < 0:
        raise SpecError(f"{name} hold {int(labels.min())}: classes count from 0")
    return labels


def images_and_labels(batch: Any) -> tuple[Any, Any]:
    """Return a batch's images, and its labels or None. Raises SpecError for an unknown kind."""
    match batch:
        case Tensor() | np.ndarray():
            return batch, None
        case [images]:
            return images, None
        case [images, labels]:
            return images, labels
        case Mapping():
            labels = next((batch[name] for name in LABELS if name in batch), None)
            inputs = [value for name, value in batch.items() if name not in LABELS]
            if len(inputs) == 1:
                return inputs[0], labels
    raise SpecError(
        f"a batch is a {type(batch).__name__}: need images, (images, labels), or a mapping of one"
        f" input and its `{LABELS[0]}`"
    )


def _joined(name: str, parts: list[Any]) -> Tensor:
    if not parts:
        raise SpecError(f"the {name} loader gives no batch: an iterator can be read only once")
    return torch.cat([numbers(f"a batch of the {name} loader", part) for part in parts])


def _is_one_hot(rows: Tensor) -> bool:
    """Say whether every row has a single 1, and zeros."""
    ones = rows == 1
    return bool((ones.sum(dim=1) == 1).all()) and bool((ones | (rows == 0)).all())


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
