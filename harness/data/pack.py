"""Copies data sets into a folder for a machine without network."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import atomic
from harness.data.catalogue import Dataset
from harness.data.hub import record_path
from harness.data.load import Source, find, located, made_path, read
from harness.errors import UsageError
from harness.untrusted import MAX_DATA_BYTES, read_bytes

MANIFEST = "MANIFEST.csv"
MANIFEST_COLUMNS = (
    "name",
    "path",
    "task",
    "source",
    "licence",
    "n_records",
    "bytes",
    "sha256",
    "how_derived",
)


@dataclass(frozen=True, slots=True)
class Packed:
    """One data set as `pack` treated it."""

    name: str
    variant: str
    path: str
    """Below the folder; empty for bundled data, which needs no file."""
    bytes: int
    sha256: str
    """Over the decoded content."""


def pack(names: Iterable[str], out: Path) -> list[Packed]:
    """Copy data sets into `out` in the layout of REPRO_DATA, with a MANIFEST.csv.

    Raises UsageError if `out` holds anything already; DataError as `datasets.load`; RunError where
    it cannot be written. After an error nothing is there.
    """
    must_be_new(out)
    is_new = not out.exists()
    rows = io.StringIO()
    manifest = csv.writer(rows, lineterminator="\n")
    manifest.writerow(MANIFEST_COLUMNS)
    packed: list[Packed] = []
    try:
        for name in names:
            dataset = find(name)
            if dataset.bundled:
                packed.append(Packed(name, "bundled", "", 0, dataset.sha256))
                continue
            source = located(dataset)
            read(dataset, source)
            data = read_bytes(source.path, limit=MAX_DATA_BYTES)
            path = _place(dataset, source, out)
            atomic.write_bytes(out / path, data)
            packed.append(Packed(name, source.variant, path, len(data), source.sha256))
            manifest.writerow((
                name, path, dataset.purpose, dataset.upstream, dataset.licence,
                dataset.num_records, len(data), hashlib.sha256(data).hexdigest(), dataset.rule,
            ))  # fmt: skip
        atomic.write_text(out / MANIFEST, rows.getvalue())
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        if not is_new:
            out.mkdir(exist_ok=True)
        raise
    return packed


def must_be_new(out: Path) -> None:
    """Raise UsageError unless a folder can be made, or is there and empty."""
    try:
        if any(out.iterdir()):
            raise UsageError(f"{out} is not empty: name a new folder, nothing is overwritten")
    except NotADirectoryError as error:
        raise UsageError(f"{out} is a file: name a new folder") from error
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{out} cannot be used ({error.strerror}): name a new folder") from error


def _place(dataset: Dataset, source: Source, out: Path) -> str:
    """Return where a data set is looked for below a folder; copy its fetch record, if any."""
    if source.variant == "staged":
        assert dataset.staged is not None
        return dataset.staged.path
    if source.variant == "made":
        return made_path(dataset, Path()).as_posix()
    # The record goes along: it holds the hash that the catalogue may not know.
    record = record_path(dataset, source.path.parents[1])
    atomic.write_bytes(record_path(dataset, out), read_bytes(record))
    return f"hub/{source.path.name}"
