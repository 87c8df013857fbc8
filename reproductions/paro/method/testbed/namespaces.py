"""Network namespaces without names: they are gone with the last process that is in them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import EnvError

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000


class Namespace:
    """A network of its own. It stays while this process, or one forked from it, lives."""

    def __init__(self) -> None:
        """Keep the network that this process is in."""
        self._file = os.open("/proc/self/ns/net", os.O_RDONLY)

    @classmethod
    def fresh(cls) -> Namespace:
        """Return an empty network; this process stays where it is."""
        here = cls()
        _call("unshare", CLONE_NEWNET)
        made = cls()
        here.enter()
        os.close(here._file)
        return made

    @property
    def path(self) -> str:
        """Where other programs find it while this process lives."""
        return f"/proc/{os.getpid()}/fd/{self._file}"

    def enter(self) -> None:
        """Move this process, which has one thread, into it."""
        _call("setns", self._file, CLONE_NEWNET)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Run what follows in it, then come back."""
        here = Namespace()
        self.enter()
        try:
            yield
        finally:
            here.enter()
            os.close(here._file)


def leave_network() -> None:
    """Move this process, which has one thread, to an empty network: as root, or as its own root.

    Raises EnvError where the kernel allows neither.
    """
    try:
        _call("unshare", CLONE_NEWNET)
    except OSError:
        ids = os.geteuid(), os.getegid()
        try:
            _call("unshare", CLONE_NEWUSER | CLONE_NEWNET)
            _be_root_inside(*ids)
        except OSError as error:
            raise EnvError(
                f"no network namespace: this process is not root, and the kernel gives none to"
                f" others ({error.strerror}): run as root"
            ) from error


def _be_root_inside(uid: int, gid: int) -> None:
    """Make this process root of its new user namespace; outside it stays who it is."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"0 {uid} 1"),
        ("gid_map", f"0 {gid} 1"),
    ):
        file = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def _call(name: str, *given: int) -> None:
    """Call a function of libc that Python 3.11 lacks. Raises OSError."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*given):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
