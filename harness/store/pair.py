"""A table and the JSON beside it appear together.

The new CSV is staged under a hidden name; then the JSON, which holds its hash, takes its place:
from here on the new pair counts. Then the CSV takes its own place. Whoever reads before that, or
after a kill, finds the staged CSV; the next writer puts it in place. Whoever finds neither, as
between two looks of its own, looks again.
"""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path

from harness.atomic import alone_in, explain, write_bytes
from harness.errors import DataError, RunError
from harness.untrusted import UnreadableError, read_bytes

WANTED = re.compile(rb'"csv_sha256": ?"([0-9a-f]{64})"')
STAGED = ".staged"
LOOKS, PAUSE_S = 20, 0.005
"""How often, and how long after another, a reader looks at a pair that a writer may be changing."""


def read_pair(path: Path) -> tuple[bytes | None, bytes | None]:
    """Return a CSV and its JSON, None for one that is missing.

    They differ only if somebody else than a writer made them so. Raises DataError for a file that
    cannot be read.
    """
    for _ in range(LOOKS):
        json, csv = _read(path.with_suffix(".json")), _read(path)
        if json is csv is None or _fits(json, csv):
            break
        staged = _read(_staged(path))
        if _fits(json, staged):
            return staged, json
        time.sleep(PAUSE_S)
    return csv, json


def write_pair(path: Path, csv: bytes, json: bytes) -> None:
    """Write a CSV and the JSON beside it, which must hold the CSV's SHA-256, where they differ.

    Raises RunError as `write_bytes`; the old pair is then still the one that is read.
    """
    with alone_in(path.parent):
        _finish(path)
        if (_read(path), _read(path.with_suffix(".json"))) == (csv, json):
            return
        try:
            if _read(path) != csv:
                write_bytes(_staged(path), csv)
            write_bytes(path.with_suffix(".json"), json)
        finally:
            _finish(path)


def finish_pairs(folder: Path) -> None:
    """Put in place what killed writers staged below a folder, or remove what never counted."""
    for staged in sorted(folder.rglob(f".*{STAGED}")):
        with alone_in(staged.parent):
            _finish(staged.with_name(staged.name.removeprefix(".").removesuffix(STAGED)))


def _finish(path: Path) -> None:
    staged = _staged(path)
    data = _read(staged)
    try:
        if data is None:
            return
        if _fits(_read(path.with_suffix(".json")), data):
            staged.replace(path)
        else:
            staged.unlink()
    except OSError as error:
        raise RunError(explain(path, error)) from error


def _fits(json: bytes | None, csv: bytes | None) -> bool:
    """Say whether a JSON holds a CSV's hash; the JSON may be damaged, and is parsed later."""
    if json is None or csv is None:
        return False
    found = WANTED.search(json)
    return found is not None and found[1].decode() == hashlib.sha256(csv).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None
    except UnreadableError as error:
        raise DataError(f"{error}: restore the file") from error


def _staged(path: Path) -> Path:
    return path.with_name(f".{path.name}{STAGED}")
