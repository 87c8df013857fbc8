"""A table and the JSON beside it appear together.

The new CSV is staged under a hidden name that holds its hash; then the JSON, which holds the
same hash, takes its place: from here on the new pair counts. Then the CSV takes its own place.
Whoever reads before that, or after a kill, finds the staged CSV; the next writer puts it in place.
Whoever reads while the JSON is replaced reads again.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import DataError, RunError
from harness.store.atomic import alone_in, explain, write_bytes
from harness.untrusted import UnreadableError, read_bytes

WANTED = re.compile(rb'"csv_sha256": ?"([0-9a-f]{64})"')
STAGED = ".staged"


@dataclass(frozen=True, slots=True)
class Pair:
    """The two files of a result at one moment; None stands for one that is missing."""

    csv: bytes | None
    json: bytes | None


def read_pair(path: Path) -> Pair:
    """Return a CSV and its JSON; they differ only if somebody else than a writer made them so.

    Raises DataError for a file that cannot be read.
    """
    # As long as one JSON is there, writers change nothing but the place of its CSV.
    while True:
        with _watched(path.with_suffix(".json")) as is_unchanged:
            pair = _look(path)
            if is_unchanged():
                return pair


def write_pair(path: Path, csv: bytes, json: bytes) -> None:
    """Write a CSV and the JSON beside it, which must hold the CSV's SHA-256, where they differ.

    Raises RunError as `write_bytes`; the old pair is then still the one that is read.
    """
    with alone_in(path.parent):
        _finish(path)
        if (_read(path), _read(path.with_suffix(".json"))) == (csv, json):
            return
        staged = _staged(path, hashlib.sha256(csv).hexdigest())
        try:
            if _read(path) != csv:
                write_bytes(staged, csv)
            write_bytes(path.with_suffix(".json"), json)
        finally:
            _finish(path)


def finish_pairs(folder: Path) -> None:
    """Put in place what killed writers staged below a folder, or remove what never counted."""
    found = {path.parent / _name(path) for path in folder.rglob(f".*{STAGED}")}
    for path in sorted(found):
        with alone_in(path.parent):
            _finish(path)


def _finish(path: Path) -> None:
    wanted = _wanted(_read(path.with_suffix(".json")))
    try:
        for staged in _all_staged(path):
            if wanted is not None and staged == _staged(path, wanted):
                staged.replace(path)
            else:
                staged.unlink()
    except OSError as error:
        raise RunError(explain(path, error)) from error


@contextmanager
def _watched(path: Path) -> Iterator[Callable[[], bool]]:
    """Give what tells whether a file was replaced since, be it by one of the same bytes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        yield lambda: not path.exists()
        return
    try:
        # While it is open, no other file gets its inode.
        yield lambda: path.exists() and os.path.samestat(os.fstat(handle), path.stat())
    finally:
        os.close(handle)


def _look(path: Path) -> Pair:
    """Read both files, the staged CSV where the JSON speaks of that one."""
    json, csv = _read(path.with_suffix(".json")), _read(path)
    wanted = _wanted(json)
    if wanted is not None and (csv is None or hashlib.sha256(csv).hexdigest() != wanted):
        staged = _read(_staged(path, wanted))
        csv = _read(path) if staged is None else staged  # it may have got its place just now
    return Pair(csv, json)


def _wanted(json: bytes | None) -> str | None:
    """Return the CSV's hash that a JSON holds; the JSON may be damaged, and is parsed later."""
    found = WANTED.search(json or b"")
    return found[1].decode() if found else None


def _read(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None
    except UnreadableError as error:
        raise DataError(f"{error}: restore the file") from error


def _staged(path: Path, sha256: str) -> Path:
    return path.with_name(f".{path.name}.{sha256[:32]}{STAGED}")


def _name(staged: Path) -> str:
    return staged.name.removeprefix(".").removesuffix(STAGED).rpartition(".")[0]


def _all_staged(path: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError):
        yield from path.parent.glob(f".{glob.escape(path.name)}.*{STAGED}")
