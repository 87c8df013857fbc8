"""How a worker process starts and ends. Imports little: it runs before anything else there."""

from __future__ import annotations

import os
import signal
import warnings

from harness.lifetime import die_with
from harness.outgoing import guard_streams


def start_worker(runner_pid: int) -> None:
    """Prepare a fresh worker: one thread, deaf to Ctrl-C, gone when its runner is.

    The environment is set before torch is imported: OpenMP reads it once. Without a passive
    wait policy two busy processes can slow each other twenty-fold.
    """
    die_with(runner_pid)
    guard_streams()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    # The runner decides what an interrupt means; a worker would only die half-way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # It was blocked while this process started; a trial's own children must not inherit that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # Libraries tell each other's authors what will be gone: no code of ours can change that.
    warnings.simplefilter("ignore", FutureWarning)
