"""Runs jobs in this process, one after another: for a debugger."""

from __future__ import annotations

from concurrent.futures import Future

from harness.run.executors.job import Job, Report
from harness.run.executors.worker import run_job


class InlineExecutor:
    """An executor without processes; a crash of a trial's process is a crash of the run."""

    num_workers, places_jobs = 1, False

    def submit(self, job: Job) -> Future[list[Report]]:
        future: Future[list[Report]] = Future()
        try:
            future.set_result(run_job(job))
        except Exception as error:  # noqa: BLE001 - a future carries whatever was raised
            future.set_exception(error)
        return future

    def cancel_all(self) -> None:
        """Do nothing: no job runs outside `submit`."""

    def close(self) -> None:
        """Do nothing: there are no workers."""
