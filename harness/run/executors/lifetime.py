"""How a worker process starts, what it does, and how it ends.

Imports little: it runs before anything else there.
"""

from __future__ import annotations

import os
import signal
import warnings
from multiprocessing.connection import Connection

from harness.lifetime import die_with
from harness.outgoing import guard_streams


def serve(pipe: Connection, runner_pid: int) -> None:
    """Say that this fresh process is there, then do the jobs that come, until none can come.

    Each is answered with its reports or error, and whether this process can do another one.
    """
    _prepare(runner_pid)
    from harness.run.executors.job import Report
    from harness.run.executors.worker import release_gpu, run_job

    pipe.send(None)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        outcome: list[Report] | Exception
        try:
            outcome = run_job(job)
        except Exception as error:  # noqa: BLE001 - the runner raises it again
            outcome = error
        pipe.send((outcome, release_gpu()))


def _prepare(runner_pid: int) -> None:
    """Make this process one that has one thread, is deaf to Ctrl-C, and ends with its runner.

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
