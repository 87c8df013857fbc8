"""The only place that opens a result file for writing.

A reader sees the old file or the new one, never a part: temporary name in the same folder,
flush, fsync, rename, fsync of the folder.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from harness.errors import RunError


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write `data` to `path` so that a crash at any instant leaves the old file or the new.

    durable: a power cut too. Waiting for the disk takes long; what can be made again need not.
    Creates missing folders. Raises RunError on a full disk or a read-only folder; the old
    file is then intact and the temporary one is gone.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=".tmp", dir=path.parent
        )
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
        temporary = None
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        raise RunError(_explain(path, error)) from error
    finally:
        if temporary is not None:  # an error, or an interrupt
            Path(temporary).unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 with `\\n` line ends; otherwise as `write_bytes`."""
    write_bytes(path, text.encode())


def _explain(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full while writing {path}: free some space and run again"
    return f"cannot write {path} ({error.strerror}): check the folder's permissions and run again"


def _sync_folder(folder: Path) -> None:
    # Without this the rename itself may be lost in a power cut.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
