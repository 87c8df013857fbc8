"""Rules for images: arrays of uint8 out of their upstreams' own binary files and PNGs."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING, Any

from harness.data.rules.files import Files

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

CIFAR10_RECORD = 1 + 3 * 32 * 32
NUM_KEPT = 2000
"""Training images of a class, the first ones."""
NUM_FIRST = 10_000
"""Images of that selection in cifar10_10k_5k; the others are cifar10_more_10k."""


def mnist(files: Files) -> dict[str, Array]:
    """mnist: all 60000 training images and the first 5000 test images of the four idx files."""
    return {
        "x_train": idx(files["train-images-idx3-ubyte.gz"]),
        "y_train": idx(files["train-labels-idx1-ubyte.gz"]),
        "x_test": idx(files["t10k-images-idx3-ubyte.gz"])[:5000],
        "y_test": idx(files["t10k-labels-idx1-ubyte.gz"])[:5000],
    }


def idx(data: bytes) -> Array:
    """Return a gzipped idx file of bytes as uint8 of the shape in its head. Raises ValueError."""
    import numpy as np

    plain = gzip.decompress(data)
    if plain[:3] != b"\0\0\x08":
        raise ValueError("no idx file of bytes")
    head = 4 + 4 * plain[3]
    shape = np.frombuffer(plain[4:head], ">u4").astype(int)
    return np.frombuffer(plain, np.uint8, offset=head).reshape(shape)


def cifar10_first(files: Files) -> dict[str, Array]:
    """cifar10_10k_5k: the first half of the selection, and every second test image."""
    arrays = _cifar10_train(files, slice(None, NUM_FIRST))
    names = [files.matching(f"*/test/{each}/*.png")[::2] for each in arrays["classes"]]
    arrays["x_test"], arrays["y_test"] = _interleaved(files, names)
    return arrays


def cifar10_more(files: Files) -> dict[str, Array]:
    """cifar10_more_10k: the second half of the selection."""
    return _cifar10_train(files, slice(NUM_FIRST, None))


def cifar100(files: Files) -> dict[str, Array]:
    """cifar100_5k_1k: the first 50 training and 10 test images of a class, by file name."""
    import numpy as np

    classes = sorted({name.split("/")[-2] for name in files.matching("*/train/*/*.png")})
    arrays: dict[str, Array] = {}
    for split, num_images in (("train", 50), ("test", 10)):
        names = [files.matching(f"*/{split}/{each}/*.png")[:num_images] for each in classes]
        arrays[f"x_{split}"], arrays[f"y_{split}"] = _interleaved(files, names)
    return {**arrays, "classes": np.array(classes)}


def _cifar10_train(files: Files, kept: slice) -> dict[str, Array]:
    """Return some of the first images of each class, in the order of the five batches."""
    import numpy as np

    batches = [files.one(f"*/data_batch_{number}.bin") for number in range(1, 6)]
    rows = np.frombuffer(b"".join(batches), np.uint8).reshape(-1, CIFAR10_RECORD)
    labels = rows[:, 0]
    first = [np.flatnonzero(labels == label)[:NUM_KEPT] for label in range(10)]
    index = np.sort(np.concatenate(first))[kept]
    images = rows[index, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    classes = files.one("*/batches.meta.txt").decode().split()
    return {
        "x_train": images,
        "y_train": labels[index],
        "train_index": index.astype(np.int32),
        "classes": np.array(classes),
    }


def _interleaved(files: Files, names: list[list[str]]) -> tuple[Array, Array]:
    """Return images and labels: the first of every class, the second of every class, ...

    names: of the files of each class, as many of each. Raises ValueError for other shapes.
    """
    import numpy as np
    from PIL import Image

    pairs = [(n, label) for row in zip(*names, strict=True) for label, n in enumerate(row)]
    images = [np.asarray(Image.open(io.BytesIO(files[n])).convert("RGB")) for n, _ in pairs]
    return np.stack(images), np.array([label for _, label in pairs], np.uint8)
