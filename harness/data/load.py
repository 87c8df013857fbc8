"""Finds a data set, decodes it, and checks that it is what the catalogue says.

Order: bundled; the folder named by REPRO_DATA; the local cache, which only `repro data make` and
`repro data fetch` fill. The first place that has the file is used, and what is there must be
right: an altered file is refused, never replaced by another variant without a word.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.data.bundled import MAKERS
from harness.data.codec import Content, Decoded, decode, hash_value
from harness.errors import DataError, UsageError, nearest
from harness.untrusted import MAX_DATA_BYTES, Stamp, UnreadableError, is_there, read_bytes, stamp

if TYPE_CHECKING:  # the models need pydantic, which `repro list` does without
    from harness.data.catalogue import Dataset, Kind, Variant

UNFETCHED = "unfetched"
REPLACE = "replace it by an intact copy, or build it again with repro data make --again"


@dataclass(frozen=True, slots=True)
class Source:
    """The file that would be read, and what it must be."""

    variant: Variant
    path: Path
    sha256: str
    """Over the decoded content."""
    file_sha256: str
    """Over the file as it was stored; another compression of the same content is fine. Empty for
    one that was made, whose compression is that of the machine."""


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
    if dataset.sha256:
        return dataset.sha256
    try:
        source = locate(dataset)
    except DataError:  # `missing_reason` says it; a plan must not stop for it
        return UNFETCHED
    return source.sha256 if source else UNFETCHED


def available(name: str) -> Variant | None:
    """Return the variant that `load` would use, or None; looks at existence only."""
    dataset = find(name)
    if dataset.bundled:
        return "bundled"
    try:
        source = locate(dataset)
    except DataError:
        return None
    return source.variant if source else None


def missing_reason(name: str) -> str:
    """Return what is missing and the ways to get it, or an empty string."""
    dataset = find(name)
    try:
        if dataset.bundled or locate(dataset):
            return ""
    except DataError as error:
        return str(error)
    where = f"not in {data_folder()}" if data_folder() else "REPRO_DATA is not set"
    staged = f" or set REPRO_DATA to a folder with {dataset.staged.path}" if dataset.staged else ""
    return f"data set {name} is missing ({where}): {supply(name)}{staged}"


def supply(name: str) -> str:
    """Return the command that supplies a data set on a machine with a network, or why none does.

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
    return f"not obtainable: {dataset.unobtainable or 'the catalogue names no source of it'}"


def load(name: str) -> Content:
    """Return a data set, its content hash checked.

    Raises UsageError for an unknown name; DataError for one that is missing, truncated,
    altered or of another format, with expected and found hash.
    """
    dataset = find(name)
    variant: Variant = "bundled"
    if dataset.bundled:
        decoded = _load_bundled(dataset)
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
    shared = dataset.kind in ("text", "arrays")
    try:
        if shared:
            return _read_once(dataset.name, dataset.kind, source, stamp(source.path))
        return _read(dataset.name, dataset.kind, source)
    except (FileNotFoundError, UnreadableError) as error:
        raise DataError(f"data set {dataset.name}: {error}: {REPLACE}") from error


def located(dataset: Dataset) -> Source:
    """Return the file that a data set is read from. Raises DataError where there is none."""
    source = locate(dataset)
    if source is None:
        raise DataError(missing_reason(dataset.name))
    return source


def locate(dataset: Dataset) -> Source | None:
    """Return the file that a staged, made or hub variant would be read from, or None.

    Raises DataError if REPRO_DATA is no folder, or a fetch record cannot be read.
    """
    from harness.data.hub import read_fetched

    folder = data_folder()
    if folder and dataset.staged and is_there(path := folder / dataset.staged.path):
        return Source("staged", path, dataset.sha256, dataset.staged.file_sha256)
    for root in [root for root in (folder, cache_folder()) if root]:
        if dataset.made and is_there(path := made_path(dataset, root)):
            return Source("made", path, dataset.sha256, "")
        fetched = read_fetched(dataset, root) if dataset.hub else None
        if fetched and is_there(path := root / fetched.path):
            # A fetch record speaks only where the catalogue is silent.
            return Source("hub", path, dataset.sha256 or fetched.sha256, fetched.file_sha256)
    return None


def made_path(dataset: Dataset, root: Path) -> Path:
    """Return where a made data set lies below a data or cache folder."""
    return root / "made" / f"{dataset.name}{dataset.suffix}"


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
    try:
        return (Path(base) if base else Path.home() / ".cache") / "paper-reproductions"
    except RuntimeError:  # a user without a home, as a container's may be
        return Path(tempfile.gettempdir(), "paper-reproductions")


def _load_bundled(dataset: Dataset) -> Decoded:
    assert dataset.bundled is not None
    made = _make(dataset.bundled.make, dataset.kind)
    if made.sha256 != dataset.sha256:
        raise DataError(
            f"data set {dataset.name}: {dataset.bundled.make} makes another content here,"
            f" expected {dataset.sha256}, found {made.sha256}: install the pinned versions"
        )
    return made


@functools.lru_cache(maxsize=4)
def _make(make: str, kind: Kind) -> Decoded:
    """Make a bundled data set, once for all trials of a worker."""
    value = MAKERS[make]()
    return _read_only(Decoded(value, hash_value(kind, value)))


@functools.lru_cache(maxsize=4)
def _read_once(name: str, kind: Kind, source: Source, changed: Stamp | None) -> Decoded:
    return _read_only(_read(name, kind, source))


def _read_only(decoded: Decoded) -> Decoded:
    """Return a text, or arrays, as trials may share it."""
    if isinstance(decoded.value, dict):
        for array in decoded.value.values():
            array.setflags(write=False)
    return decoded


def _read(name: str, kind: Kind, source: Source) -> Decoded:
    data = read_bytes(source.path, limit=MAX_DATA_BYTES)
    try:
        decoded = decode(kind, data)
    except DataError as error:
        found = hashlib.sha256(data).hexdigest()
        raise DataError(
            f"data set {name}: {source.path} is truncated, altered or of another format,"
            f" {error}; file hash expected {source.file_sha256 or 'unknown'}, found {found}:"
            f" {REPLACE}"
        ) from error
    if decoded.sha256 != source.sha256:
        raise DataError(
            f"data set {name}: {source.path} holds other content, expected"
            f" {source.sha256}, found {decoded.sha256}: {REPLACE}"
        )
    return decoded
