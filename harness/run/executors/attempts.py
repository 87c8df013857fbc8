"""Which checkpoint of an earlier attempt a trial may go on from."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from harness.store.atomic import write_text
from harness.untrusted import UnreadableError, parse_json, read_bytes

log = logging.getLogger(__name__)


def begin_attempt(checkpoint: Path, *, failure: Path | None, code: str) -> None:
    """Remove a checkpoint that must not be used, and note what this attempt begins with.

    A failed trial goes on from its checkpoint. Where it fails again before it wrote a newer one,
    the checkpoint itself may be the reason, so the next attempt starts over; it may have killed
    the worker, so this is decided here and not when an attempt ends. What other code trained is
    never gone on from: the record could not say so.

    failure: the file of the record that says that the last attempt failed; None where it did not.
    code: the digest of the code that this attempt runs.
    """
    now = {"checkpoint": _mark(checkpoint), "failure": _mark(failure), "code": code}
    before = _read(_note(checkpoint))
    if now["checkpoint"] is not None and before:
        again = now["checkpoint"] == before.get("checkpoint") and failure is not None
        if before.get("code") != code:
            _start_over(checkpoint, "its code changed since")
        elif again and now["failure"] != before.get("failure"):
            _start_over(checkpoint, "the trial failed from there")
    write_text(_note(checkpoint), json.dumps(now))


def end_attempts(checkpoint: Path) -> None:
    """Remove the checkpoint of a trial that has its result."""
    for path in (checkpoint, _note(checkpoint)):
        path.unlink(missing_ok=True)


def _start_over(checkpoint: Path, why: str) -> None:
    log.warning("checkpoint %s is not used (%s): starting over", checkpoint, why)
    checkpoint.unlink()


def _note(checkpoint: Path) -> Path:
    return checkpoint.with_suffix(".attempt.json")


def _read(path: Path) -> dict[str, object]:
    """Return a note; nothing where there is none that can be used."""
    try:
        found = parse_json(read_bytes(path), where=str(path))
    except (FileNotFoundError, UnreadableError):
        return {}
    return found if isinstance(found, dict) else {}


def _mark(path: Path | None) -> list[int] | None:
    """Tell a file from the one before it; every file of ours is renamed into its place."""
    if path is None or not path.exists():
        return None
    found = path.stat()
    return [found.st_ino, found.st_mtime_ns, found.st_size]
