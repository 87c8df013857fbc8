"""What an executor takes and gives: jobs as plain data, and futures of reports."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from harness.declare.params import Scalar
from harness.declare.profiles import Profile


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Trials to run in a worker in one go, as plain data: it crosses processes."""

    task_module: str
    """Module through which the worker finds the experiment."""
    experiment: str
    points: tuple[dict[str, Scalar], ...]
    """The parameters of each trial; mostly of one."""
    profile: Profile
    root: str
    """The checkout's folder."""
    facts: dict[str, Any]
    """What every record of this run carries: commit, machine, versions, code, overrides, and what
    claims ask."""
    timeout_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What a worker says of one trial; the record itself is on disk already."""

    status: str
    """A `Status`, or `busy` where another run holds the trial."""
    wall_s: float
    note: str = ""


class JobFailed(Exception):
    """The worker died or ran out of time before it could write a record, or the run in one go of
    several trials failed."""


class JobLost(JobFailed):
    """The machine that a job ran on was lost, or its worker there: the job may run once more."""


class Executor(Protocol):
    """Carries out jobs side by side. A lost worker costs its job, not the executor."""

    num_workers: int
    places_jobs: bool
    """Whether it finds room for jobs by what their trials need; else all share this machine."""

    def submit(self, job: Job) -> Future[list[Report]]:
        """Start a job, which ends in a report of each trial. Its future raises JobFailed where the
        worker was lost, and HarnessError where going on makes no sense."""
        ...

    def cancel_all(self) -> None:
        """Stop at once, running jobs too."""
        ...

    def close(self) -> None:
        """Free the workers; no job may be running."""
        ...
