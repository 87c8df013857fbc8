"""Fetches hub variants through the `datasets` package, and remembers what was fetched.

A fetch leaves two files below the cache folder, `hub/NAME.jsonl.gz` (`.txt.gz` for a text, `.npz`
for images) and the record `hub/NAME.json`. The first fetch of a data set whose revision or content
the catalogue does not know writes the record; every later one must match it, also after the data
file itself was deleted. Both files may be copied below a REPRO_DATA folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from harness import atomic
from harness.canonical import canonical_json
from harness.data.codec import decode, encode
from harness.errors import DataError, EnvError, HarnessError, UsageError
from harness.outgoing import tidy
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, read_bytes

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

    from harness.data.catalogue import Dataset, Hub

LOCAL = "local folder"
"""Stands for the revision of a repository that is a folder on this machine."""


class Fetched(Strict):
    """What a fetch found, as stored."""

    schema_version: Literal[1] = 1
    name: str
    repo: str
    revision: str
    num_records: int
    sha256: str
    """Over the decoded content."""


def data_place(dataset: Dataset) -> str:
    """Return where the file of a fetched data set lies below a data or cache folder."""
    return f"hub/{dataset.name}{dataset.suffix}"


def record_place(dataset: Dataset) -> str:
    """Return where its fetch record lies."""
    return f"hub/{dataset.name}.json"


def read_fetched(dataset: Dataset, root: Path) -> Fetched | None:
    """Return the fetch record, or None. Raises DataError for one that is damaged or of another."""
    path, hub = root / record_place(dataset), _hub_of(dataset)
    again = f"delete it and run `repro data fetch {dataset.name}` again"
    try:
        fetched = Fetched.model_validate_json(read_bytes(path))
    except FileNotFoundError:
        return None
    except (UnreadableError, ValidationError) as error:
        why = explain(error) if isinstance(error, ValidationError) else error
        raise DataError(f"the fetch record {path} cannot be read ({why}): {again}") from error
    is_repo = (fetched.name, fetched.repo) == (dataset.name, hub.repo)
    if not is_repo or hub.revision not in ("", fetched.revision):
        raise DataError(
            f"the fetch record {path} is of {fetched.repo} at {fetched.revision}, the catalogue"
            f" names {hub.repo} at {hub.revision or 'any revision'}: {again}"
        )
    return fetched


def _hub_of(dataset: Dataset) -> Hub:
    if dataset.hub is None:
        raise UsageError(f"data set {dataset.name} is not on the hub: see `repro data list`")
    return dataset.hub


def fetch(dataset: Dataset, cache: Path) -> Fetched:
    """Read a data set from the hub into the cache and return its record.

    Raises UsageError if it has no hub variant; EnvError without a network or without the
    `datasets` package; DataError if revision or content differ from the catalogue or from
    the first fetch, which then leaves the cache as it was.
    """
    hub, known = _hub_of(dataset), read_fetched(dataset, cache)
    try:
        revision = _resolve(hub, hub.revision or (known.revision if known else ""))
        value, num_records = _read(dataset, hub, revision)
        data = encode(dataset.kind, value)
    except HarnessError:
        raise
    # The clients raise errors of many libraries (HTTP client, Arrow, fsspec, their own), which
    # share no base and change between versions; a field that is not there is a KeyError.
    except Exception as error:
        raise _told(dataset, hub, error) from error
    fetched = Fetched(
        name=dataset.name,
        repo=hub.repo,
        revision=revision,
        num_records=num_records,
        sha256=decode(dataset.kind, data).sha256,
    )
    expected = dataset.sha256 or (known.sha256 if known else "")
    if expected and fetched.sha256 != expected:
        source = "the catalogue" if dataset.sha256 else "the first fetch"
        raise DataError(
            f"data set {dataset.name}: {hub.repo} at {revision} holds other content than {source}"
            f" says, expected {expected}, found {fetched.sha256}: the cache is left as it was"
        )
    atomic.write_bytes(cache / data_place(dataset), data)
    # Last, so that a record never stands for a file that was not written.
    record = canonical_json(fetched.model_dump()) + "\n"
    atomic.write_text(cache / record_place(dataset), record)
    return fetched


def _told(dataset: Dataset, hub: Hub, error: Exception) -> EnvError:
    first_line = tidy((str(error).strip() or "no reason given").splitlines()[0], most=200)
    return EnvError(
        f"cannot fetch {dataset.name} from {hub.repo} ({type(error).__name__}: {first_line}): check"
        " the network, that 'paper-reproductions[lm]' is installed, and the fields that the"
        " catalogue names, or fetch it on another machine and copy its cache folder's hub/ into"
        " REPRO_DATA"
    )


def _resolve(hub: Hub, revision: str) -> str:
    """Return the commit to read: the one asked for, or the newest. Fails fast when offline."""
    if Path(hub.repo).is_absolute():
        return LOCAL
    from huggingface_hub import HfApi

    return str(HfApi().dataset_info(hub.repo, revision=revision or None, timeout=30).sha)


def _read(dataset: Dataset, hub: Hub, revision: str) -> tuple[Any, int]:
    """Return what the catalogue asks for of the hub's rows, and how many they are."""
    splits = [_rows(dataset, hub, revision, split) for split in hub.splits]
    if dataset.kind == "arrays":
        return _images(hub, splits)
    items = [row[hub.field] for rows in splits for row in rows]
    return "".join(items) if dataset.kind == "text" else [{hub.field: i} for i in items], len(items)


def _rows(dataset: Dataset, hub: Hub, revision: str, split: str) -> Iterator[dict[str, Any]]:
    """Yield the first rows of a split, and check that they are enough.

    Streaming reads no further than `num_records` and leaves no second copy in Arrow files.
    """
    import datasets

    num_read = 0
    at = None if revision == LOCAL else revision
    rows = datasets.load_dataset(
        hub.repo, hub.config or None, split=split, revision=at, streaming=True
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
) -> tuple[dict[str, np.ndarray[Any, Any]], int]:
    """Return images, shape (n, height, width, 3), and labels, shape (n,), of a train and a test
    split as uint8, and how many there are."""
    import numpy as np

    arrays, total = {}, 0
    for part, rows in zip(("train", "test"), splits, strict=True):
        pairs = [(_pixels(row[hub.field], hub.image_size), int(row[hub.label])) for row in rows]
        arrays[f"x_{part}"] = np.stack([pixels for pixels, _ in pairs])
        arrays[f"y_{part}"] = np.array([label for _, label in pairs], np.uint8)
        total += len(pairs)
    return arrays, total


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
