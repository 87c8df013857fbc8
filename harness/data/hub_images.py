"""Turns the rows of a hub's image data set into arrays: decoding, colour, size and labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from harness.data.catalogue import Dataset, Hub

    Pixels = np.ndarray[Any, np.dtype[np.uint8]]

MAX_LABEL = 255
DEEP_MODES = ("I", "F")
"""First letters of Pillow's modes of more than 8 bits, whose values a conversion would clip."""


def read_images(
    dataset: Dataset, hub: Hub, rows: Iterable[dict[str, Any]]
) -> tuple[Pixels, Pixels]:
    """Return the images and labels of one split, in the rows' order, as uint8.

    rows: each with Pillow's image in `hub.field`, its class in `hub.label`.
    Returns shapes (n, height, width, 3) and (n,).
    Raises DataError that names the record: no image, no label from 0 to 255, another size.
    """
    import numpy as np

    images: list[Pixels] = []
    labels: list[int] = []
    for index, row in enumerate(rows):
        where = f"data set {dataset.name}: record {index} of {hub.repo}"
        pixels = _pixels(where, hub, row)
        if images and pixels.shape != images[0].shape:
            raise DataError(
                f"{where} has the shape {pixels.shape}, the first one {images[0].shape}:"
                " give image_size in the catalogue"
            )
        images.append(pixels)
        labels.append(_label(where, hub, row))
    return np.stack(images), np.array(labels, np.uint8)


def _pixels(where: str, hub: Hub, row: dict[str, Any]) -> Pixels:
    """Return a row's image, upright as `datasets` gives it, in colour and of the size asked for."""
    import numpy as np
    import PIL.Image

    image = row.get(hub.field)
    if not isinstance(image, PIL.Image.Image) or image.mode.startswith(DEEP_MODES):
        raise DataError(
            f"{where} has no image of 8 bits a channel in the field {hub.field!r}, only"
            f" {', '.join(sorted(row))}: correct the catalogue"
        )
    image = image.convert("RGB")
    if hub.image_size:
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        image = image.crop((left, top, left + side, top + side)).resize(
            (hub.image_size, hub.image_size), PIL.Image.Resampling.BICUBIC
        )
    return np.asarray(image)


def _label(where: str, hub: Hub, row: dict[str, Any]) -> int:
    label = row.get(hub.label)
    if not isinstance(label, int) or not 0 <= label <= MAX_LABEL:
        raise DataError(
            f"{where} has no class from 0 to {MAX_LABEL} in the field {hub.label!r},"
            f" found {label!r} among {', '.join(sorted(row))}: correct the catalogue"
        )
    return label
