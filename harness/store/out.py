"""Files that a user names: nothing is replaced that is no plain file, or unasked is in git."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from harness.atomic import explain, write_bytes
from harness.errors import RunError, UsageError


def write_out(path: Path, data: bytes, *, force: bool = False) -> None:
    """Write to the file that a user named: into a device or a pipe, at the end of a link.

    The name - is standard output.

    force: also over a file that git tracks. Raises UsageError for a tracked file, a folder and
    what cannot be written to; RunError as `write_bytes`.
    """
    target, mode = Path(os.path.realpath(path)), stat.S_IFREG
    try:
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode
        if str(path) == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        elif stat.S_ISREG(mode):
            if not force and is_tracked(target):
                raise UsageError(f"git tracks {path}: name another file, or add --force")
            if target.exists() and not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            write_bytes(target, data)
        elif stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            with os.fdopen(os.open(path, os.O_WRONLY), "wb") as stream:
                stream.write(data)
        else:
            raise UsageError(f"{path} is no file to write to: name another one")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RunError(explain(path, error)) from error


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
