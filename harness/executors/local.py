"""Runs jobs in local processes, one thread each, through pebble's spawned pool."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import CancelledError, Future, TimeoutError
from typing import Any

from pebble import ProcessExpired, ProcessPool

from harness.executors import Job, JobFailed, Report
from harness.executors.worker import run_job, start_worker


class LocalExecutor:
    """A pool of one-thread processes on this machine."""

    def __init__(self, num_workers: int) -> None:
        self.num_workers = num_workers
        self._pool = ProcessPool(
            max_workers=num_workers,
            initializer=start_worker,
            initargs=(os.getpid(),),
            # A forked child would inherit torch's threads and locks in any state.
            context=multiprocessing.get_context("spawn"),
        )

    def submit(self, job: Job) -> Future[list[Report]]:
        inner: Future[Any] = self._pool.schedule(run_job, args=[job], timeout=job.timeout_s)
        outer: Future[list[Report]] = Future()

        def finish(done: Future[Any]) -> None:
            try:
                outer.set_result(done.result())
            except CancelledError:
                outer.cancel()
            except TimeoutError:
                outer.set_exception(JobFailed(f"it ran longer than {job.timeout_s:g} s"))
            except ProcessExpired as error:
                outer.set_exception(JobFailed(f"its worker died (exit code {error.exitcode})"))
            except Exception as error:  # noqa: BLE001 - a future carries whatever was raised
                outer.set_exception(error)

        inner.add_done_callback(finish)
        return outer

    def cancel_all(self) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    def close(self) -> None:
        self._pool.close()  # type: ignore[no-untyped-call]
        self._pool.join()
