"""Runs jobs in local processes, one thread each; a thread here waits for each of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import warnings
from concurrent.futures import Future
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Thread
from typing import Any

from harness.errors import RunError
from harness.lifetime import die_with
from harness.outgoing import guard_streams
from harness.run.executors.job import Job, JobFailed, Report

# A forked child would inherit torch's threads and locks in any state.
SPAWN = multiprocessing.get_context("spawn")
EXIT_S = 5.0
"""How long a process that said no more may take to end."""
GRACE_S = 0.2
"""How long one that is told to end at once may go on."""


class LocalExecutor:
    """One-thread processes on this machine, each started when there is a job for it."""

    places_jobs = False

    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        # It unblocks SIGINT when it starts, so it must have started before a thread blocks it.
        resource_tracker.ensure_running()
        self._jobs: SimpleQueue[tuple[Job, Future[list[Report]]] | None] = SimpleQueue()
        self._stop, self._stopper = SPAWN.Pipe(duplex=False)
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(num_workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> Future[list[Report]]:
        future: Future[list[Report]] = Future()
        self._jobs.put((job, future))
        return future

    def cancel_all(self) -> None:
        # Nobody reads it: every thread sees it, whatever it waits for.
        self._stopper.send(None)
        self.close()

    def close(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()
        self._stop.close()
        self._stopper.close()

    def _serve(self) -> None:
        """Have jobs done until there are no more, by a worker that is replaced when it is lost."""
        # A Ctrl-C goes to the whole group, and a worker that is still starting would die of it:
        # it inherits this, and unblocks the signal when it ignores it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        worker: _Worker | None = None
        while (item := self._jobs.get()) is not None:
            job, future = item
            if self._stop.poll():
                future.cancel()
                continue
            try:
                if worker is None or not worker.is_alive():
                    worker = _Worker(self._stop)
                reports, is_fit = worker.do(job)
            except _StoppedError:
                future.cancel()
            except BaseException as error:  # noqa: BLE001 - a future carries whatever was raised
                future.set_exception(error)
            else:
                future.set_result(reports)
                if not is_fit:
                    worker.end()
        if worker is not None:
            worker.end()


class _StoppedError(Exception):
    """The executor was told to stop at once."""


class _Worker:
    """A process that does one job after another."""

    def __init__(self, stop: Connection) -> None:
        """stop: readable when all is to end. Raises RunError where no process can start."""
        self._stop = stop
        self._pipe, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_do_jobs, args=(theirs, os.getpid()), daemon=True)
        try:
            self._process.start()
            theirs.close()
            self._receive(None)
        except (OSError, EOFError) as error:
            raise RunError(
                f"worker processes do not start ({error or 'they die at once'}): --executor inline"
                " shows why"
            ) from error

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def do(self, job: Job) -> tuple[list[Report], bool]:
        """Return what a job's trials came to, and whether the process can do another one.

        Raises what the job raised, and JobFailed where the process died or took too long.
        """
        try:
            self._pipe.send(job)
            outcome, is_fit = self._receive(job.timeout_s)
        except TimeoutError as error:
            raise JobFailed(f"it ran longer than {job.timeout_s:g} s") from error
        except (OSError, EOFError) as error:
            self._process.join(EXIT_S)
            self.end()
            code = self._process.exitcode
            raise JobFailed(f"its worker died (exit code {code})") from error
        if isinstance(outcome, Exception):
            raise outcome
        return outcome, is_fit

    def end(self) -> None:
        """Kill the process: all that it did is on disk.

        One that its driver holds ends later, and nobody waits for it.
        """
        self._process.kill()
        self._process.join(EXIT_S)
        self._pipe.close()

    def _receive(self, timeout_s: float | None) -> Any:
        """Return what the process says; after anything else it is ended."""
        ready = wait([self._pipe, self._stop], timeout_s)
        if self._stop in ready:
            # One that is at its record's last bytes is let finish: half of it would stay there.
            wait([self._pipe], GRACE_S)
        elif ready:
            return self._pipe.recv()
        self.end()
        raise _StoppedError if ready else TimeoutError


def _do_jobs(pipe: Connection, runner_pid: int) -> None:
    """Say that this fresh process is there, then do the jobs that come, until none can come.

    Each is answered with its reports or error, and whether this process can do another one.
    """
    _prepare(runner_pid)
    # It may import torch.
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
