"""How a worker process starts and ends. Imports little: it runs before anything else there."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1


def start_worker(runner_pid: int) -> None:
    """Prepare a fresh worker: one thread, deaf to Ctrl-C, gone when its runner is.

    The environment is set before torch is imported: OpenMP reads it once. Without a passive
    wait policy two busy processes can slow each other twenty-fold.
    """
    die_with(runner_pid)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    # The runner decides what an interrupt means; a worker would only die half-way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        # It was blocked while this process started; a trial's own children must not inherit that.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def die_with(parent_pid: int) -> None:
    """Make this process end when its parent does, however the parent ends."""
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
