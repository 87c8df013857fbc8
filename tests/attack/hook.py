"""Die by SIGKILL at the n-th call that makes, writes, syncs, renames or removes a file.

Read from ATTACK_KILL, `role call number moment`, in the runner (`runner`) or in a process that it
has started (`worker`); `moment` is before or after the call.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

VARIABLE = "ATTACK_KILL"
CALLS = ("fsync", "replace", "open", "rename", "unlink", "mkdir", "write")
ROLES = ("runner", "worker")


def install(own: str = "") -> None:
    """Count the calls of this process from now on, if it is one that shall die.

    own: its role, where that does not show in how Python was started.
    """
    wanted = os.environ.get(VARIABLE, "").split()
    if not wanted:
        return
    role, call, number, moment = wanted
    is_worker = any("spawn_main" in word or "fresh_process" in word for word in sys.orig_argv)
    if role != (own or ("worker" if is_worker else "runner")):
        return
    real = _Writer.write if call == "write" else getattr(os, call)
    counted = _counted(real, int(number), moment)
    if call == "write":
        _Writer.write = counted  # type: ignore[method-assign]
        os.fdopen = _fdopen
    else:
        setattr(os, call, counted)


class _Writer(io.BufferedWriter):
    """A stream that puts half of what it writes into its file at once: a crash may fall between."""

    def write(self, data: Any) -> int:
        half = len(data) // 2
        super().write(data[:half])
        self.flush()
        return half + super().write(data[half:])


def _fdopen(handle: int, mode: str = "r", *args: Any, **options: Any) -> Any:
    if mode == "wb":
        return _Writer(io.FileIO(handle, "wb"))
    return _FDOPEN(handle, mode, *args, **options)


def _counted(real: Callable[..., Any], number: int, moment: str) -> Callable[..., Any]:
    done = 0

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal done
        if real is _OPEN and not args[1] & os.O_CREAT:  # a reader leaves nothing behind
            return real(*args, **kwargs)
        done += 1
        if done == number and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*args, **kwargs)
        if done == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


_OPEN, _FDOPEN = os.open, os.fdopen
