"""Runs jobs in local processes, one thread each, through pebble's spawned pool."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, InvalidStateError, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from pebble import ProcessExpired, ProcessPool

from harness.errors import EnvError, RunError
from harness.run.executors.job import Job, JobFailed, JobLost, Report
from harness.run.executors.lifetime import start_worker
from harness.run.executors.worker import DEVICE_LOST, run_in_worker

WATCH_S = 1.0
MAX_BREAKS = 5


class LocalExecutor:
    """A pool of one-thread processes on this machine."""

    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        # It unblocks SIGINT when it starts, so it must have started before we block it.
        resource_tracker.ensure_running()
        self._pool = self._new_pool()
        self._jobs: dict[Future[Any], Future[Report]] = {}
        self._num_breaks = 0
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, job: Job) -> Future[Report]:
        outer: Future[Report] = Future()
        inner = self._schedule(job)
        self._jobs[inner] = outer

        def finish(done: Future[Any]) -> None:
            self._jobs.pop(done, None)
            self._pass_on(done, outer, job)

        inner.add_done_callback(finish)
        return outer

    def cancel_all(self) -> None:
        self._closed.set()
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    def close(self) -> None:
        self._closed.set()
        self._pool.close()  # type: ignore[no-untyped-call]
        self._pool.join()

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(
            max_workers=self.num_workers,
            initializer=start_worker,
            initargs=(os.getpid(),),
            # A forked child would inherit torch's threads and locks in any state.
            context=multiprocessing.get_context("spawn"),
        )

    def _schedule(self, job: Job) -> Future[Any]:
        """Hand a job to the pool; a pool that broke is replaced first."""
        while True:
            try:
                with _interrupts_blocked():
                    return self._pool.schedule(run_in_worker, args=[job], timeout=job.timeout_s)
            except RuntimeError:
                self._replace_pool()
            except OSError as error:
                # Its locks need shared memory, which a container may lack.
                raise EnvError(
                    f"worker processes cannot start ({error.strerror}): make /dev/shm writable,"
                    " or take --executor inline"
                ) from error

    def _replace_pool(self) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()
        self._lose_jobs()
        self._num_breaks += 1
        if self._num_breaks > MAX_BREAKS:
            raise RunError(
                "worker processes die before they do anything: --executor inline shows why"
            )
        self._pool = self._new_pool()

    def _lose_jobs(self) -> None:
        for inner, outer in list(self._jobs.items()):
            self._jobs.pop(inner, None)
            _settle(outer, JobLost("the pool of workers broke"))

    def _pass_on(self, done: Future[Any], outer: Future[Report], job: Job) -> None:
        """Give a job's end to the runner, in its words."""
        try:
            report: Report = done.result()
        except CancelledError:
            outer.cancel()
            return
        except BrokenProcessPool as error:
            # A worker died while none was at work; pebble then gives the whole pool up.
            _settle(outer, JobLost(str(error)))
            return
        except TimeoutError:
            _settle(outer, JobFailed(f"it ran longer than {job.timeout_s:g} s"))
        except ProcessExpired as error:
            if error.exitcode == DEVICE_LOST:
                _settle(outer, JobLost("an earlier trial broke its worker's GPU context"))
            else:
                _settle(outer, JobFailed(f"its worker died (exit code {error.exitcode})"))
        except BaseException as error:  # noqa: BLE001 - a future carries whatever was raised
            _settle(outer, error)
        else:
            with suppress(InvalidStateError):
                outer.set_result(report)
        self._num_breaks = 0

    def _watch(self) -> None:
        suspects: set[Future[Any]] = set()
        while not self._closed.wait(WATCH_S):
            suspects = self._find_orphans(suspects)

    def _find_orphans(self, suspects: set[Future[Any]]) -> set[Future[Any]]:
        """End jobs whose worker is gone unseen; return those to look at again.

        A worker that dies the moment it takes a job may be struck off the pool's list before
        the pool reads that it took the job; pebble then waits for the job's whole timeout.
        """
        manager = self._pool._pool_manager
        alive = set(manager.worker_manager.workers)
        orphans = {
            task.future
            for task in list(manager.task_manager.tasks.values())
            # One that is late is being ended by pebble itself, which takes some seconds.
            if task.started
            and task.worker_id not in alive
            and not manager.task_manager.timeout(task)
        }
        for inner in orphans & suspects:
            if outer := self._jobs.get(inner):
                _settle(outer, JobFailed("its worker died"))
            inner.cancel()
        # Asked only while it has jobs: the question starts a pool that is not running yet.
        if self._jobs and not self._pool.active and not self._closed.is_set():
            self._lose_jobs()
        return orphans - suspects


def _settle(outer: Future[Report], error: BaseException) -> None:
    with suppress(InvalidStateError):
        outer.set_exception(error)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in what is started meanwhile: threads and processes inherit the mask.

    A Ctrl-C goes to the whole group; a worker that is still starting would die of it with a
    traceback. Workers unblock it when they ignore it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
