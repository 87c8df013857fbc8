"""Finds a data set, decodes it, and checks that it is what the catalogue says.

Order: bundled; the folder named by REPRO_DATA; the local cache, which only `repro data make` and
`repro data fetch` fill. The first place that has the file is used, and what is there must be
right: an altered file is refused, never replaced by another variant without a word.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.data.bundled import MAKERS
from harness.data.codec import Content, Decoded, decode, encode
from harness.errors import DataError, UsageError, nearest
from harness.untrusted import MAX_DATA_BYTES, is_there, read_bytes

if TYPE_CHECKING:  # the models need pydantic, which `repro list` does without
    from harness.data.catalogue import Dataset, Kind, Variant

UNFETCHED = "unfetched"
REPLACE = "replace it by an intact copy, or build it again with repro data make --again"


@dataclass(frozen=True, slots=True)
class Source:
    """The file that would be read, and what it must be."""

    variant: Variant
    root: Path
    """The data or cache folder."""
    place: str
    """Below it."""
    sha256: str
    """Over the decoded content."""

    @property
    def path(self) -> Path:
        return self.root / self.place


def catalogue() -> dict[str, Dataset]:
    """Return all data sets by name. Raises DataError for a catalogue that does not parse."""
    from harness.data.catalogue import load_catalogue

    return load_catalogue()


def find(name: str) -> Dataset:
    """Return a data set's entry. Raises UsageError that names the nearest ones."""
    known = catalogue()
    if name not in known:
        raise UsageError(
            f"no data set is called {name!r}{nearest(name, known)} (repro data list shows all)"
        )
    return known[name]


def data_hash(name: str) -> str:
    """Return the content hash without reading the data.

    Where only a fetch can tell it: the hash that the first fetch recorded, or "unfetched".
    """
    dataset = find(name)
    source = None if dataset.sha256 else _locate_or_none(dataset)
    return dataset.sha256 or (source.sha256 if source else UNFETCHED)


def available(name: str) -> Variant | None:
    """Return the variant that `load` would use, or None; looks at existence only."""
    dataset = find(name)
    if dataset.bundled:
        return "bundled"
    source = _locate_or_none(dataset)
    return source.variant if source else None


def _locate_or_none(dataset: Dataset) -> Source | None:
    """Return the file, None also for a damaged one: a plan must not stop, and says why."""
    try:
        return locate(dataset)
    except DataError:
        return None


def missing_reason(name: str) -> str:
    """Return what is missing and the ways to get it, or an empty string."""
    dataset = find(name)
    try:
        if dataset.bundled or locate(dataset):
            return ""
    except DataError as error:
        return str(error)
    where = f"not in {data_folder()}" if data_folder() else "REPRO_DATA is not set"
    staged = f" or set REPRO_DATA to a folder with {dataset.staged}" if dataset.staged else ""
    return f"data set {name} is missing ({where}): {supply(name)}{staged}"


def supply(name: str) -> str:
    """Return the command that supplies a data set on a machine with a network, if one does.

    >>> supply("tinyshakespeare")
    'repro data make tinyshakespeare'
    >>> supply("digits")
    'nothing to get: it is bundled'
    """
    dataset = find(name)
    if dataset.bundled:
        return "nothing to get: it is bundled"
    if dataset.made or dataset.hub:
        return f"repro data {'make' if dataset.made else 'fetch'} {name}"
    return "not obtainable: the catalogue names no source of it"


def load(name: str) -> Content:
    """Return a data set, its content hash checked.

    Raises UsageError for an unknown name; DataError for one that is missing, truncated,
    altered or of another format, with expected and found hash.
    """
    dataset = find(name)
    if dataset.bundled:
        variant: Variant = "bundled"
        decoded = _bundled(dataset)
    else:
        source = located(dataset)
        variant, decoded = source.variant, read(dataset, source)
    # A dict of one's own: adding to it must not change what the next caller gets.
    value = dict(decoded.value) if dataset.kind == "arrays" else decoded.value
    return Content(dataset.name, variant, decoded.sha256, value)


def path_of(name: str) -> Path:
    """Return a data set's file, its content hash checked, for a library that reads it itself."""
    source = located(find(name))
    read(find(name), source)
    return source.path


def read(dataset: Dataset, source: Source) -> Decoded:
    """Decode a file and check it. Raises DataError as `load`.

    The trials of one worker share a text, and arrays, which therefore cannot be written to.
    """
    if dataset.kind in ("text", "arrays"):
        # A file that is gone is told by who reads it.
        status = source.path.stat() if source.path.exists() else None
        changed = (status.st_mtime_ns, status.st_size) if status else None
        decoded = _decode_once(dataset.kind, source.path, changed)
    else:
        decoded = _decode(dataset.kind, source.path)
    if decoded.sha256 != source.sha256:
        raise DataError(
            f"data set {dataset.name}: {source.path} holds other content, expected"
            f" {source.sha256}, found {decoded.sha256}: {REPLACE}"
        )
    return decoded


@functools.lru_cache(maxsize=4)
def _decode_once(kind: Kind, path: Path, changed: tuple[int, int] | None) -> Decoded:
    return _read_only(_decode(kind, path))


def _decode(kind: Kind, path: Path) -> Decoded:
    try:
        return decode(kind, read_bytes(path, limit=MAX_DATA_BYTES))
    except FileNotFoundError as error:
        raise DataError(f"{path} is gone: {REPLACE}") from error
    except DataError as error:
        raise DataError(
            f"{path} is truncated, altered or of another format, {error}: {REPLACE}"
        ) from error


@functools.lru_cache(maxsize=4)
def _bundled(dataset: Dataset) -> Decoded:
    """Make a bundled data set, once for all trials of a worker."""
    made = decode(dataset.kind, encode(dataset.kind, MAKERS[dataset.bundled]()))
    if made.sha256 != dataset.sha256:
        raise DataError(
            f"data set {dataset.name}: {dataset.bundled} makes another content here,"
            f" expected {dataset.sha256}, found {made.sha256}: install the pinned versions"
        )
    return _read_only(made)


def _read_only(decoded: Decoded) -> Decoded:
    """Return a text, or arrays, as trials may share it."""
    if isinstance(decoded.value, dict):
        for array in decoded.value.values():
            array.setflags(write=False)
    return decoded


def located(dataset: Dataset) -> Source:
    """Return the file that a data set is read from. Raises DataError where there is none."""
    source = locate(dataset)
    if source is None:
        raise DataError(missing_reason(dataset.name))
    return source


def locate(dataset: Dataset) -> Source | None:
    """Return the file that a staged, made or hub variant would be read from, or None.

    Raises DataError if REPRO_DATA is no folder, or the hash of a fetch cannot be read.
    """
    from harness.data.hub import data_place, pinned

    folder = data_folder()
    if folder and dataset.staged and is_there(folder / dataset.staged):
        return Source("staged", folder, dataset.staged, dataset.sha256)
    for root in [root for root in (folder, cache_folder()) if root]:
        if dataset.made and is_there(root / made_place(dataset)):
            return Source("made", root, made_place(dataset), dataset.sha256)
        # The first fetch speaks only where the catalogue is silent.
        sha256 = dataset.sha256 or pinned(dataset, root)
        if dataset.hub and sha256 and is_there(root / data_place(dataset)):
            return Source("hub", root, data_place(dataset), sha256)
    return None


def made_place(dataset: Dataset) -> str:
    """Return where a made data set lies below a data or cache folder."""
    return f"made/{dataset.name}{dataset.suffix}"


def data_folder() -> Path | None:
    """Return the folder named by REPRO_DATA. Raises DataError if it is not a folder."""
    value = os.environ.get("REPRO_DATA")
    if not value:
        return None
    if not os.path.isdir(value):  # noqa: PTH112 - the other raises for a name that is too long
        raise DataError(f"REPRO_DATA={value} is not a folder: correct or unset the variable")
    return Path(value)


def cache_folder() -> Path:
    """Return REPRO_CACHE, else the user's cache folder with our name; it may not exist."""
    if value := os.environ.get("REPRO_CACHE"):
        return Path(value)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "paper-reproductions"
