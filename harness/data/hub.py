"""Fetches hub variants through the `datasets` package, and remembers the hash of what was fetched.

A fetch leaves two files below the cache folder, `hub/NAME.jsonl.gz` (`.txt.gz` for a text, `.npz`
for images) and `hub/NAME.sha256`. Where the catalogue does not know the content, every later fetch
must match that of the first, also after the data file itself was deleted. Both files may be copied
below a REPRO_DATA folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import atomic
from harness.data.codec import decode, encode
from harness.errors import DataError, EnvError, HarnessError, UsageError
from harness.outgoing import tidy
from harness.untrusted import read_text

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

    from harness.data.catalogue import Dataset, Hub


def data_place(dataset: Dataset) -> str:
    """Return where the file of a fetched data set lies below a data or cache folder."""
    return f"hub/{dataset.name}{dataset.suffix}"


def pin_place(dataset: Dataset) -> str:
    """Return where the content hash that the first fetch found lies."""
    return f"hub/{dataset.name}.sha256"


def pinned(dataset: Dataset, root: Path) -> str:
    """Return the content hash that the first fetch found, or "". Raises DataError for another."""
    try:
        text = read_text(root / pin_place(dataset)).strip()
    except FileNotFoundError:
        return ""
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise DataError(
            f"{root / pin_place(dataset)} holds no hash: delete it and run"
            f" `repro data fetch {dataset.name}` again"
        )
    return text


def fetch(dataset: Dataset, cache: Path) -> str:
    """Read a data set from the hub into the cache; return the hash of its content.

    Raises UsageError if it has no hub variant; EnvError without a network or without the
    `datasets` package; DataError if the content differs from that of the catalogue or of the first
    fetch, which then leaves the cache as it was.
    """
    if dataset.hub is None:
        raise UsageError(f"data set {dataset.name} is not on the hub: see `repro data list`")
    first = pinned(dataset, cache)
    try:
        data = encode(dataset.kind, _read(dataset, dataset.hub, _resolve(dataset.hub)))
    except HarnessError:
        raise
    # The clients raise errors of many libraries (HTTP client, Arrow, fsspec, their own), which
    # share no base and change between versions; a field that is not there is a KeyError.
    except Exception as error:
        raise _told(dataset, dataset.hub, error) from error
    found, expected = decode(dataset.kind, data).sha256, dataset.sha256 or first
    if expected not in ("", found):
        source = "the catalogue" if dataset.sha256 else "the first fetch"
        raise DataError(
            f"data set {dataset.name}: {dataset.hub.repo} holds other content than {source} says,"
            f" expected {expected}, found {found}: the cache is left as it was"
        )
    atomic.write_bytes(cache / data_place(dataset), data)
    # Last, so that it never stands for a file that was not written.
    atomic.write_text(cache / pin_place(dataset), found + "\n")
    return found


def _told(dataset: Dataset, hub: Hub, error: Exception) -> EnvError:
    first_line = tidy((str(error).strip() or "no reason given").splitlines()[0], most=200)
    return EnvError(
        f"cannot fetch {dataset.name} from {hub.repo} ({type(error).__name__}: {first_line}): check"
        " the network, that 'paper-reproductions[lm]' is installed, and the fields that the"
        " catalogue names, or fetch it on another machine and copy its cache folder's hub/ into"
        " REPRO_DATA"
    )


def _resolve(hub: Hub) -> str | None:
    """Return the commit to read: the catalogue's, or the newest. Fails fast when offline."""
    if Path(hub.repo).is_absolute():
        return None
    from huggingface_hub import HfApi

    return HfApi().dataset_info(hub.repo, revision=hub.revision or None, timeout=30).sha


def _read(dataset: Dataset, hub: Hub, revision: str | None) -> Any:
    """Return what the catalogue asks for of the hub's rows."""
    splits = [_rows(dataset, hub, revision, split) for split in hub.splits]
    if dataset.kind == "arrays":
        return _images(hub, splits)
    items = [row[hub.field] for rows in splits for row in rows]
    return "".join(items) if dataset.kind == "text" else [{hub.field: item} for item in items]


def _rows(dataset: Dataset, hub: Hub, revision: str | None, split: str) -> Iterator[dict[str, Any]]:
    """Yield the first rows of a split, and check that they are enough.

    Streaming reads no further than `num_records` and leaves no second copy in Arrow files.
    """
    import datasets

    num_read = 0
    rows = datasets.load_dataset(
        hub.repo, hub.config or None, split=split, revision=revision, streaming=True
    )
    for row in islice(rows, hub.num_records or None):
        num_read += 1
        yield row
    if hub.num_records > num_read:
        raise DataError(
            f"data set {dataset.name}: {hub.repo} has {num_read} records in {split}, the catalogue"
            f" wants {hub.num_records}: correct it"
        )


def _images(
    hub: Hub, splits: Iterable[Iterable[dict[str, Any]]]
) -> dict[str, np.ndarray[Any, Any]]:
    """Return images, shape (n, height, width, 3), and labels, (n,), of train and test, as uint8."""
    import numpy as np

    arrays = {}
    for part, rows in zip(("train", "test"), splits, strict=True):
        pairs = [(_pixels(row[hub.field], hub.image_size), int(row[hub.label])) for row in rows]
        arrays[f"x_{part}"] = np.stack([pixels for pixels, _ in pairs])
        arrays[f"y_{part}"] = np.array([label for _, label in pairs], np.uint8)
    return arrays


def _pixels(image: Image, size: int) -> np.ndarray[Any, Any]:
    """Return an image in colour; of a `size`, the centred square, resized."""
    import numpy as np
    from PIL.Image import Resampling

    image = image.convert("RGB")
    if size:
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        square = image.crop((left, top, left + side, top + side))
        image = square.resize((size, size), Resampling.BICUBIC)
    return np.asarray(image)
