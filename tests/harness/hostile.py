"""Things that stand where a file should, and hostile bytes, for tests of what reads them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

ODD_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "and no file"),
    "pipe": (os.mkfifo, "and no file"),
    "dangling link": (lambda path: path.symlink_to(path.with_name("nothing")), "link to nothing"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "and no file"),
}
"""By kind: what puts one in a place, and the words of the sentence that refuses it."""


def put(path: Path, kind: str) -> str:
    """Put one in the place of a file; return the words that refuse it."""
    make, word = ODD_FILES[kind]
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    return word
