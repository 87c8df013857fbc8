"""Fetches hub variants through the `datasets` package, and remembers what was fetched.

A fetch leaves two files below the cache folder, `hub/NAME.jsonl.gz` (`.txt.gz` for a text, `.npz`
for images) and the record `hub/NAME.json` with revision and hashes. The first fetch of a data set
whose revision or content the catalogue does not know writes the record; every later one must match
it, also after the data file itself was deleted. Both files may be copied below a REPRO_DATA folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
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
    file_sha256: str
    path: str
    """The data file's place, relative to the folder that holds `hub/`."""


def record_path(dataset: Dataset, root: Path) -> Path:
    """Return where the fetch record of a data set lies below a data or cache folder."""
    return root / "hub" / f"{dataset.name}.json"


def read_fetched(dataset: Dataset, root: Path) -> Fetched | None:
    """Return the fetch record, or None. Raises DataError for one that is damaged or of another."""
    path, hub = record_path(dataset, root), _hub_of(dataset)
    again = f"delete it and run `repro data fetch {dataset.name}` again"
    try:
        fetched = Fetched.model_validate_json(read_bytes(path))
    except FileNotFoundError:
        return None
    except (UnreadableError, ValidationError) as error:
        why = explain(error) if isinstance(error, ValidationError) else error
        raise DataError(f"the fetch record {path} cannot be read ({why}): {again}") from error
    found = fetched.name, fetched.path, fetched.repo
    fits = found == (dataset.name, _data_path(dataset), hub.repo)
    if not fits or hub.revision not in ("", fetched.revision):
        raise DataError(
            f"the fetch record {path} is of {fetched.name} in {fetched.path}, {fetched.repo} at"
            f" {fetched.revision}, the catalogue names {hub.repo} at"
            f" {hub.revision or 'any revision'}: {again}"
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
        data, num_records = _read(dataset, hub, revision)
    except HarnessError:
        raise
    # The clients raise errors of many libraries (HTTP client, Arrow, fsspec, their own), which
    # share no base and change between versions.
    except Exception as error:
        raise _told(dataset, hub, error) from error
    fetched = Fetched(
        name=dataset.name,
        repo=hub.repo,
        revision=revision,
        num_records=num_records,
        sha256=decode(dataset.kind, data).sha256,
        file_sha256=hashlib.sha256(data).hexdigest(),
        path=_data_path(dataset),
    )
    expected = dataset.sha256 or (known.sha256 if known else "")
    if expected and fetched.sha256 != expected:
        source = "the catalogue" if dataset.sha256 else "the first fetch"
        raise DataError(
            f"data set {dataset.name}: {hub.repo} at {revision} holds other content than {source}"
            f" says, expected {expected}, found {fetched.sha256}: the cache is left as it was"
        )
    atomic.write_bytes(cache / fetched.path, data)
    # Last, so that a record never stands for a file that was not written.
    atomic.write_text(record_path(dataset, cache), canonical_json(fetched.model_dump()) + "\n")
    return fetched


def _told(dataset: Dataset, hub: Hub, error: Exception) -> EnvError:
    first_line = tidy((str(error).strip() or "no reason given").splitlines()[0], most=200)
    return EnvError(
        f"cannot fetch {dataset.name} from {hub.repo} ({type(error).__name__}: {first_line}): check"
        " the network, and that 'paper-reproductions[lm]' is installed, or fetch it on another"
        " machine and copy its cache folder's hub/ into REPRO_DATA"
    )


def _data_path(dataset: Dataset) -> str:
    return f"hub/{dataset.name}{dataset.suffix}"


def _resolve(hub: Hub, revision: str) -> str:
    """Return the commit to read: the one asked for, or the newest. Fails fast when offline."""
    if Path(hub.repo).is_absolute():
        return LOCAL
    if Path(hub.repo).exists():
        # `datasets` would read it in place of the hub's repository.
        raise DataError(f"a local path {hub.repo} hides the hub's: run in another folder")
    from huggingface_hub import HfApi

    found = HfApi().dataset_info(hub.repo, revision=revision or None, timeout=30).sha
    if revision and found != revision:
        raise DataError(f"{hub.repo}: asked for revision {revision}, the hub answers {found}")
    return str(found)


def _read(dataset: Dataset, hub: Hub, revision: str) -> tuple[bytes, int]:
    """Return the file to store and how many records it holds."""
    if dataset.kind == "arrays":
        from harness.data.hub_images import read_images

        arrays: dict[str, Any] = {}
        for part, split in zip(("train", "test"), hub.splits, strict=True):
            images, labels = read_images(dataset, hub, _items(dataset, hub, revision, (split,)))
            arrays |= {f"x_{part}": images, f"y_{part}": labels}
        return encode("arrays", arrays), len(arrays["y_train"]) + len(arrays["y_test"])
    rows = _items(dataset, hub, revision, hub.splits)
    items = [_item(dataset, hub, row, index) for index, row in enumerate(rows)]
    value = "".join(items) if dataset.kind == "text" else [{hub.field: item} for item in items]
    return encode(dataset.kind, value), len(items)


def _items(
    dataset: Dataset, hub: Hub, revision: str, splits: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of some splits, streamed in their order, and check that they are enough.

    Streaming reads no further than `num_records` and leaves no second copy in Arrow files.
    """
    import datasets

    num_read = 0
    for split in splits:
        at = None if revision == LOCAL else revision
        for row in datasets.load_dataset(
            hub.repo, hub.config or None, split=split, revision=at, streaming=True
        ):
            num_read += 1
            yield row
            if num_read == hub.num_records:
                return
    if hub.num_records > num_read:
        raise DataError(
            f"data set {dataset.name}: {hub.repo} has {num_read} records in"
            f" {', '.join(splits)}, the catalogue wants {hub.num_records}: correct it"
        )


def _item(dataset: Dataset, hub: Hub, row: dict[str, Any], index: int) -> str:
    value = row.get(hub.field)
    if not isinstance(value, str):
        raise DataError(
            f"data set {dataset.name}: record {index} of {hub.repo} has no text in the field"
            f" {hub.field!r}, only {', '.join(sorted(row))}: correct the catalogue"
        )
    return value
