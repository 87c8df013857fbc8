"""Files that a user names: nothing is replaced that is no plain file, or unasked is in git."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

from harness.atomic import explain, write_bytes
from harness.errors import RunError, UsageError


def write_out(path: Path, data: bytes, *, force: bool = False) -> None:
    """Write to the file that a user named: into a device or a pipe, at the end of a link.

    The name - is standard output.

    force: also over a file that git tracks. Raises UsageError for a tracked file and for what is
    no file; RunError as `write_bytes`.
    """
    target = Path(os.path.realpath(path))
    try:
        if str(path) == "-":
            sys.stdout.flush()
            # Text streams of ours have no buffer for the bytes of a figure.
            with open(1, "wb", closefd=False) as stream:
                stream.write(data)
        elif path.is_fifo() or path.is_char_device():
            path.write_bytes(data)
        elif path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file to write to: name another one")
        elif not force and is_tracked(target):
            raise UsageError(f"git tracks {path}: name another file, or add --force")
        elif target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            write_bytes(target, data)
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
