"""Copies data sets into a folder for a machine without network."""

from __future__ import annotations

import csv
import hashlib
import io
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.data.hub import record_path
from harness.data.load import Source, find, locate, made_path, missing_reason, read
from harness.errors import DataError, RunError, UsageError
from harness.store import atomic
from harness.untrusted import MAX_DATA_BYTES, read_bytes

MANIFEST = "MANIFEST.csv"
STAGED = ".pack.repro.tmp"
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

    All of them are checked before the first is copied; all are there, or nothing is.
    Raises UsageError if `out` holds anything already; DataError as `datasets.load`; RunError where
    it cannot be written.
    """
    must_be_new(out)
    sources = [(name, _checked(name)) for name in names]
    packed: list[Packed] = []
    rows: list[dict[str, object]] = []
    with _staged(out) as folder:
        for name, source in sources:
            if source is None:
                packed.append(Packed(name, "bundled", "", 0, find(name).sha256))
                continue
            copied = _copy(name, source, folder)
            packed.append(copied)
            rows.append(_manifest_row(copied, folder))
        atomic.write_text(folder / MANIFEST, _to_csv(rows))
    return packed


@contextmanager
def _staged(out: Path) -> Iterator[Path]:
    """Give a folder whose content moves into `out` at the end; an error leaves nothing there.

    It lies inside: `out` may be the root of a disk that is carried away. What a kill leaves of it
    is cleared by the next one.
    """
    is_new, staged = not out.exists(), out / STAGED
    with atomic.alone_in(out):
        must_be_new(out)  # another one may have been faster
        shutil.rmtree(staged, ignore_errors=True)
        try:
            yield staged
            for path in sorted(staged.iterdir(), key=lambda path: path.name == MANIFEST):
                path.rename(out / path.name)
        except OSError as error:
            raise RunError(atomic.explain(out, error)) from error
        finally:
            shutil.rmtree(staged, ignore_errors=True)
            if is_new:
                with suppress(OSError):  # it is full where all went well
                    out.rmdir()


def must_be_new(out: Path) -> None:
    """Raise UsageError unless a folder can be made, or is there and empty."""
    try:
        if any(path.name != STAGED for path in out.iterdir()):
            raise UsageError(f"{out} is not empty: name a new folder, nothing is overwritten")
    except NotADirectoryError as error:
        raise UsageError(f"{out} is a file: name a new folder") from error
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{out} cannot be used ({error.strerror}): name a new folder") from error


def _checked(name: str) -> Source | None:
    """Return the file to copy, its content hash checked; None for bundled data."""
    dataset = find(name)
    if dataset.bundled:
        return None
    source = locate(dataset)
    if source is None:
        raise DataError(missing_reason(name))
    read(dataset, source)
    return source


def _copy(name: str, source: Source, out: Path) -> Packed:
    dataset = find(name)
    if source.variant == "staged":
        assert dataset.staged is not None
        path = dataset.staged.path
    elif source.variant == "made":
        path = made_path(dataset, Path()).as_posix()
    else:
        path = f"hub/{source.path.name}"
        # The record goes along: it holds the hash that the catalogue may not know.
        record = record_path(dataset, source.path.parents[1])
        atomic.write_bytes(record_path(dataset, out), read_bytes(record))
    data = read_bytes(source.path, limit=MAX_DATA_BYTES)
    atomic.write_bytes(out / path, data)
    # Read back: what was copied is what was checked, or the copy is of no use.
    copy = Source(source.variant, out / path, source.sha256, source.file_sha256)
    read(dataset, copy)
    return Packed(name, source.variant, path, len(data), source.sha256)


def _manifest_row(copied: Packed, out: Path) -> dict[str, object]:
    dataset = find(copied.name)
    values = (
        copied.name,
        copied.path,
        dataset.purpose,
        dataset.upstream,
        dataset.licence,
        dataset.num_records,
        copied.bytes,
        hashlib.sha256(read_bytes(out / copied.path, limit=MAX_DATA_BYTES)).hexdigest(),
        dataset.rule,
    )
    return dict(zip(MANIFEST_COLUMNS, values, strict=True))


def _to_csv(rows: list[dict[str, object]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, MANIFEST_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
