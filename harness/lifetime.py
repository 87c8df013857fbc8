"""A process that ends with the one that started it, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1


def die_with(parent_pid: int) -> None:
    """Make this process end when its parent does, however the parent ends.

    parent_pid: as the parent itself told it: one that is dead already has another process in
    its place here. On Linux the thread that started this process counts as the parent.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent_pid,), daemon=True).start()
    # The parent may have died before the request was made.
    if os.getppid() != parent_pid:
        os._exit(1)


def _watch(parent_pid: int) -> None:
    while os.getppid() == parent_pid:
        time.sleep(0.2)
    os._exit(1)
