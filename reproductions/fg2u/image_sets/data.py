"""Real images of a cell of Table 1: read, made smaller, split, and drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from harness.declare import RunContext
from harness.errors import SpecError
from reproductions.fg2u.image_sets.params import Condensation
from reproductions.fg2u.models.draws import generator_of

NUM_TEST_DIGITS = 500
"""Of the bundled digits, which have no test split of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    """Images with pixels in [0, 1], shape (n, C, H, W), and their classes."""

    images: Tensor
    labels: Tensor

    def rows(self, chosen: Tensor) -> Labelled:
        return Labelled(images=self.images[chosen], labels=self.labels[chosen])

    def to(self, device: str) -> Labelled:
        return Labelled(images=self.images.to(device), labels=self.labels.to(device))


@dataclass(frozen=True, kw_only=True, slots=True)
class Splits:
    """What outer losses judge by, and what accuracies are of."""

    train: Labelled
    test: Labelled


def splits_of(params: Condensation, ctx: RunContext) -> Splits:
    """Return a cell's real images. Raises SpecError where a class has fewer than it asks for."""
    arrays = ctx.dataset(params.data).arrays
    if params.data == "digits":
        every = labelled(arrays["x"], arrays["y"], params.image_size, white=16.0)
        order = torch.randperm(len(every.labels), generator=generator_of(ctx, "split"))
        test, train = (
            every.rows(part) for part in (order[:NUM_TEST_DIGITS], order[NUM_TEST_DIGITS:])
        )
    else:
        train, test = (
            labelled(arrays[f"x_{part}"], arrays[f"y_{part}"], params.image_size, white=255.0)
            for part in ("train", "test")
        )
    check_enough(params, train.labels)
    return Splits(train=train, test=test)


def labelled(pixels: np.ndarray, labels: np.ndarray, image_size: int, *, white: float) -> Labelled:
    """Return images in [0, 1] of this size, by average pooling of whole squares.

    pixels: shape (n, H, W), or (n, H, W, C). Where no whole squares fit they first get a black
    frame, as wide on every side: 28 x 28 becomes 16 x 16 by way of 32 x 32.
    Raises SpecError for a size that cannot be come to so.
    """
    found = pixels.shape[1]
    square = -(-found // image_size)
    frame, odd = divmod(square * image_size - found, 2)
    if odd or frame > square or image_size > found:
        raise SpecError(
            f"image_size={image_size}: images of {found} x {found} are pooled by whole squares,"
            f" so take a divisor of {found}, or of a little more"
        )
    # A copy: torch warns of arrays that cannot be written to, as a data set is.
    images = torch.from_numpy(pixels.astype("float32")).to(torch.get_default_dtype()) / white
    images = images[:, None] if images.dim() == 3 else images.permute(0, 3, 1, 2)
    images = avg_pool2d(pad(images, [frame] * 4), square) if square > 1 else images
    classes = torch.from_numpy(labels.astype("int64"))
    return Labelled(images=images.contiguous(), labels=classes)


def check_enough(params: Condensation, labels: Tensor) -> None:
    """Raise SpecError unless every class has as many real images as are condensed."""
    counts = torch.bincount(labels, minlength=params.num_classes)
    least = int(counts.argmin())
    if len(counts) > params.num_classes:
        raise SpecError(
            f"data={params.data}: it has {len(counts)} classes and {params.dataset} has"
            f" {params.num_classes}, so read another data set"
        )
    if int(counts[least]) < params.ipc:
        raise SpecError(
            f"ipc={params.ipc}: class {least} of {params.data} has {int(counts[least])} training"
            f" images, so take an ipc of at most {int(counts[least])} or a larger data set"
        )


def real_images(params: Condensation, train: Labelled, generator: torch.Generator) -> Tensor:
    """Draw real images, as many per class as are condensed; image i is of class i % classes."""
    order = torch.randperm(len(train.labels), generator=generator)
    labels = train.labels[order]
    by_class = [order[labels == each][: params.ipc] for each in range(params.num_classes)]
    return train.images[torch.stack(by_class, dim=1).flatten()]


def digits_of(images: Tensor) -> str:
    """Return images as text, a word for each: a hexadecimal digit per pixel, 0 for black.

    >>> digits_of(torch.tensor([[[[0.0, 1.0], [0.6, 0.26]]]]))
    '0f94'
    """
    levels = (images.clamp(0.0, 1.0) * 15).round().to(torch.int64).flatten(1)
    return " ".join("".join(f"{level:x}" for level in image) for image in levels.tolist())
