"""The only place that opens a result file for writing, and that locks.

A reader sees the old file or the new one, never a part: temporary name in the same folder,
flush, fsync, rename, fsync of the folder.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from harness.errors import RunError

log = logging.getLogger(__name__)

NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF)
"""How a file system says that it has no locks, as some network mounts do; the last is what NFS says
of a folder, since it locks only what is open for writing."""
TEMPORARY = ".*.repro.tmp"
LEASE_S = 300.0
"""How long a lease lasts unless it is renewed; a machine may stall for minutes."""
LEFTOVER_S = 3600.0
"""After so long without a change a temporary file is nobody's; a machine may stall for minutes."""


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write `data` to `path` so that a crash at any instant leaves the old file or the new.

    durable: a power cut too. Waiting for the disk takes long; what can be made again need not.
    Creates missing folders, and keeps the mode of a file that is there. Raises RunError on a full
    disk or a read-only folder; the old file is then intact and the temporary one is gone.
    """
    temporary = path.with_name(f".{secrets.token_hex(16)}.repro.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            with suppress(FileNotFoundError):
                os.fchmod(stream.fileno(), path.stat().st_mode & 0o777)
            if durable:
                os.fsync(stream.fileno())
            temporary.replace(path)
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        raise RunError(explain(path, error)) from error
    finally:
        with suppress(OSError):  # it is there after an error or an interrupt only
            temporary.unlink()


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 with `\\n` line ends; otherwise as `write_bytes`."""
    write_bytes(path, text.encode())


def explain(path: Path, error: OSError) -> str:
    """Say in one sentence why a file could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full while writing {path}: free some space and run again"
    return f"cannot write {path} ({error.strerror}): check path and permissions, and run again"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes that ask from a folder's files meanwhile; leaves no file behind.

    Not to be nested. Otherwise as `locked`.
    """
    with _locked(folder, folder, os.O_RDONLY, fcntl.LOCK_EX):
        yield


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock that a file of its own stands for; `wait=False`: yield False if another does.

    The kernel lets the next one in when this one dies. On a file system without locks a lease does,
    a file that its holder renews. Raises RunError where the lock cannot be made.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    how = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
    with _locked(path, path.parent, flags, how) as is_ours:
        yield is_ours


@contextmanager
def _locked(path: Path, folder: Path, flags: int, how: int) -> Iterator[bool]:
    with ExitStack() as stack:
        is_ours = True
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, flags, 0o666)
            stack.callback(os.close, handle)
            fcntl.flock(handle, how)
        except BlockingIOError:
            is_ours = False
        except OSError as error:
            if error.errno in NO_LOCKS:
                is_ours = stack.enter_context(_lease(path, wait=how == fcntl.LOCK_EX))
            else:
                raise RunError(
                    f"cannot lock {path} ({error.strerror}): free some space, check the folder's"
                    " permissions, and run again"
                ) from error
        try:
            yield is_ours
        finally:
            with suppress(OSError):  # a forked child may have the handle too, and live on
                fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def _lease(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a lease instead of a lock.

    A holder that died on this machine gives way at once, one on another machine after five minutes.
    """
    from filelock import SoftFileLease, Timeout

    file = path / ".lease" if path.is_dir() else path.with_name(f"{path.name}.lease")
    lease = SoftFileLease(
        file, lease_duration=LEASE_S, timeout=-1 if wait else 0, thread_local=False
    )
    try:
        lease.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise RunError(explain(file, error)) from error
    try:
        yield True
    finally:
        lease.release()


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that killed writers left anywhere below a folder; young ones stay."""
    for path in folder.rglob(TEMPORARY):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFTOVER_S:
                path.unlink()


def _sync_folder(folder: Path) -> None:
    # Without this the rename itself may be lost in a power cut.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
