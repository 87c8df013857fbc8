"""Die by SIGKILL at the n-th call that makes, syncs or renames a file; no other import but os's.

Read from ATTACK_KILL, `role call number moment`, in the runner (`runner`) or in a process that it
has started (`worker`); `moment` is before or after the call.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

VARIABLE = "ATTACK_KILL"
CALLS = ("fsync", "replace", "open")
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
    if role == (own or ("worker" if is_worker else "runner")):
        setattr(os, call, _counted(getattr(os, call), int(number), moment))


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


_OPEN = os.open
