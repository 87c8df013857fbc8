"""The one way in for files that anybody may have written.

A FIFO, a device, a folder, a link to nothing, a file too large, packed or nested without end: each
is one sentence that names the file, in bounded time and memory.
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import stat
import tomllib
import zlib
from pathlib import Path
from typing import Any

from harness.errors import DataError

MAX_BYTES = 2**28
"""Of a file, and of what it unpacks to, where nothing else is said."""
MAX_DATA_BYTES = 2**31
"""Of a data file, packed or not."""


class UnreadableError(DataError):
    """A file that is there and cannot be used; the message starts with its name."""


def is_there(path: Path) -> bool:
    """Say whether a name is taken, be it by a link to nothing, which is damage and not absence."""
    return os.path.lexists(path)


def read_bytes(path: Path, *, limit: int = MAX_BYTES) -> bytes:
    """Return what a regular file holds.

    Raises FileNotFoundError where there is none, UnreadableError for anything else.
    """
    try:
        status = path.stat()
        # To open a pipe would wait until somebody writes to it.
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError(f"{path} is a folder, pipe, device or socket, and no file")
        if status.st_size > limit:
            raise _too_large(str(path), limit)
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise UnreadableError(f"{path} is a link to nothing") from None
        raise
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read ({error.strerror})") from error


def read_text(path: Path) -> str:
    """Return a file's text, line ends as they are. Raises as `read_bytes`."""
    return to_text(read_bytes(path), where=str(path))


def to_text(data: bytes, *, where: str) -> str:
    """Return the text that bytes hold. Raises UnreadableError unless they are UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{where} is no text in UTF-8 ({error.reason})") from error


def unzip(data: bytes, *, where: str, limit: int = MAX_BYTES) -> bytes:
    """Return what gzipped bytes hold. Raises UnreadableError for what is damaged or too large."""
    plain = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            # Piece by piece: to ask for all that is allowed would set as much memory aside.
            while plain.tell() <= limit and (piece := stream.read(2**20)):
                plain.write(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(f"{where} is truncated or altered ({error})") from error
    if plain.tell() > limit:
        raise _too_large(where, limit)
    return plain.getvalue()


def _too_large(where: str, limit: int) -> UnreadableError:
    return UnreadableError(f"{where} is too large: more than {limit / 2**20:.0f} MiB")


def parse_json(text: str | bytes, *, where: str) -> Any:
    """Return a JSON value. Raises UnreadableError also for a repeated key and endless nesting."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{where} is torn: it is not complete JSON") from error
    # Plain ValueError: an integer of more digits than Python reads.
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{where} is foreign: {in_one_line(error)}") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated[:80]!r} stands twice")
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds, for reading only: who reads it again gets the same tables.

    Raises as `read_bytes`, and UnreadableError for no TOML.
    """
    text = read_text(path)
    try:
        return _parsed_toml(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{path} is not valid TOML: {in_one_line(error)}") from error


@functools.lru_cache(maxsize=64)
def _parsed_toml(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def in_one_line(error: BaseException | str) -> str:
    """Return the words of an error of a library, which may take many lines, shortened."""
    return " ".join(str(error).split())[:300]
