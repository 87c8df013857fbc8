"""A table and the JSON beside it appear together.

The new CSV is staged under a hidden name that holds its hash; then the JSON, which holds the
same hash, takes its place: from here on the new pair counts. Then the CSV takes its own place.
Whoever reads before that, or after a kill, finds the staged CSV; the next writer puts it in place.
Whoever finds neither, as between two looks of its own, looks again.
"""

from __future__ import annotations

import glob
import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.atomic import alone_in, explain, write_bytes
from harness.errors import DataError, RunError
from harness.untrusted import UnreadableError, read_bytes

WANTED = re.compile(rb'"csv_sha256": ?"([0-9a-f]{64})"')
STAGED = ".staged"
LOOKS, PAUSE_S = 20, 0.005
"""How often, and how long after another, a reader looks at a pair that a writer may be changing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The two files of a result at one moment; None stands for one that is missing."""

    csv: bytes | None
    json: bytes | None


def read_pair(path: Path) -> Pair:
    """Return a CSV and its JSON; they differ only if somebody else than a writer made them so.

    Raises DataError for a file that cannot be read.
    """
    for _ in range(LOOKS):
        json, csv = _read(path.with_suffix(".json")), _read(path)
        wanted = _wanted(json)
        is_whole = (csv is None) == (json is None)
        if is_whole and (csv is None or wanted in (None, hashlib.sha256(csv).hexdigest())):
            break
        if wanted is not None and (staged := _read(_staged(path, wanted))) is not None:
            return Pair(staged, json)
        time.sleep(PAUSE_S)
    return Pair(csv, json)


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
