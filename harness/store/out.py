"""Files that a user names: nothing is replaced that is no plain file, or unasked is in git."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

from harness.errors import RunError, UsageError
from harness.store.atomic import explain, write_bytes

PIPE_WAIT_S = 10.0
"""How long a named pipe may lack a reader."""


def write_out(path: Path, data: bytes, *, force: bool = False) -> None:
    """Write to the file that a user named: into a device or a pipe, at the end of a link.

    The name - is standard output.

    force: also over a file that git tracks. Raises UsageError for a tracked file, a folder and
    what cannot be written to; RunError as `write_bytes`, and for a pipe that nobody reads.
    """
    try:
        mode = _mode(path)
        if str(path) == "-":
            sys.stdout.flush()
            _pour(1, data)
        elif mode is not None and (own := _own_stream(path)) is not None:
            _pour(own, data)
        elif mode is None or stat.S_ISREG(mode):
            _replace(path, data, force=force or mode is None)
        elif stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            _write_into(path, data)
        else:
            raise UsageError(f"{path} is no file to write to: name another one")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RunError(explain(path, error)) from error


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(path: Path, data: bytes, *, force: bool) -> None:
    target = Path(os.path.realpath(path))
    if not force and is_tracked(target):
        raise UsageError(f"git tracks {path}: name another file, or add --force to replace it")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    write_bytes(target, data)


def is_tracked(path: Path) -> bool:
    """Say whether git tracks a file; no where there is no git or no repository."""
    command = ["git", "--literal-pathspecs", "-C", str(path.parent)]
    try:
        done = subprocess.run(
            [*command, "ls-files", "--error-unmatch", "--", path.name],
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _own_stream(path: Path) -> int | None:
    """Return 1 or 2 where a path names our own output: to open it anew would write over it."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if os.path.samestat(os.fstat(number), path.stat()):
                stream.flush()
                return number
        except (OSError, AttributeError):  # closed
            continue
    return None


def _write_into(path: Path, data: bytes) -> None:
    handle = _open(path, time.monotonic() + PIPE_WAIT_S)
    try:
        os.set_blocking(handle, True)
        _pour(handle, data)
    finally:
        os.close(handle)


def _open(path: Path, until: float) -> int:
    while True:
        try:
            # Without it, to open a pipe that nobody reads would never end.
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise RunError(f"nobody reads the pipe {path}: start its reader first") from error
            time.sleep(0.02)


def _pour(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]
