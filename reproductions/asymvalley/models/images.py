"""Labelled images of a trial: decoded, normalised, in the order of their file.

Sources of a trial's images: the first `num_train` training images, of which the first
`num_statistics` also serve the statistics of batch normalisation, and the first `num_test` test
images.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from harness.data.codec import Arrays
from harness.declare import RunContext
from harness.errors import DataError
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.models.pairs import DATA, Net

DIGITS_TEST = 360
"""The last of scikit-learn's 1,797 digits are the test images; other writers than the first."""
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""What the staged networks were trained with."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Images:
    """Normalised images, float32, shape (N, C, H, W) in channels-last order, and their labels."""

    train_x: Tensor
    train_y: Tensor
    test_x: Tensor
    test_y: Tensor
    num_statistics: int

    def valley_data(self) -> ValleyData:
        """Return what a curve is measured on."""
        return ValleyData(
            test_images=self.test_x,
            test_labels=self.test_y,
            statistics_images=self.train_x[: self.num_statistics],
        )


def images_of(params: Net, ctx: RunContext) -> Images:
    """Return the images of a trial, normalised per channel.

    Raises DataError where the data set has fewer images.
    """
    name = params.data
    train, test = splits(name, ctx.dataset(name).arrays)
    if params.more_data:
        more = ctx.dataset(params.more_data).arrays
        train = (
            np.concatenate([train[0], more["x_train"]]),
            np.concatenate([train[1], more["y_train"]]),
        )
    factor = DATA[name].side // params.image_size
    train_x, train_y = _first(name, "training", train, params.num_train, factor)
    test_x, test_y = _first(name, "test", test, params.num_test, factor)
    if params.normalisation == "imagenet":
        mean, std = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
    else:
        mean, std = train_x.mean(dim=(0, 2, 3)), train_x.std(dim=(0, 2, 3))
    shape = (1, -1, 1, 1)
    return Images(
        train_x=_placed((train_x - mean.view(shape)) / std.view(shape), ctx.device),
        train_y=train_y.to(ctx.device),
        test_x=_placed((test_x - mean.view(shape)) / std.view(shape), ctx.device),
        test_y=test_y.to(ctx.device),
        num_statistics=params.num_statistics,
    )


_Split = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def splits(name: str, arrays: Arrays) -> tuple[_Split, _Split]:
    """Return training and test images of a data set, each with its labels, as they are stored."""
    if name == "digits":
        x, y = arrays["x"], arrays["y"]
        return (x[:-DIGITS_TEST], y[:-DIGITS_TEST]), (x[-DIGITS_TEST:], y[-DIGITS_TEST:])
    return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])


def _first(name: str, part: str, split: _Split, count: int, factor: int) -> tuple[Tensor, Tensor]:
    """Return the first images of a split in [0, 1], shape (N, C, H, W), and their labels.

    factor: squares of so many pixels a side are averaged to one.
    """
    x, y = split
    if len(x) < count:
        raise DataError(
            f"data set {name} has {len(x)} {part} images, the trial asks for {count}: lower it"
        )
    if name == "digits":
        x = x / 16.0 * 255.0
    images = torch.tensor(x[:count], dtype=torch.float32) / 255.0
    images = images.unsqueeze(1) if images.dim() == 3 else images.permute(0, 3, 1, 2)
    if factor > 1:
        images = F.avg_pool2d(images, factor)
    return images, torch.tensor(y[:count], dtype=torch.int64)


def _placed(images: Tensor, device: str) -> Tensor:
    # Channels last: convolutions of a CPU run two to three times as fast so.
    return images.to(device).contiguous(memory_format=torch.channels_last)
