"""Carries a plan out: submits jobs, survives lost workers, stops cleanly."""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

from harness.declare.experiment import Experiment, Status
from harness.declare.task import Task
from harness.errors import HarnessError, RunError
from harness.executors import Executor, Job, JobFailed, JobLost, Report
from harness.executors.worker import BUSY
from harness.publish.evidence import experiment_code, seals_of
from harness.registry import Library
from harness.run.plan import Action, Plan, PlannedTrial
from harness.run.progress import Progress
from harness.run.trial import Trial, grid_of
from harness.store.record import Record, make_record
from harness.store.store import RecordStore

log = logging.getLogger(__name__)

BUSY_RETRY_S = 0.5
POLL_S = 0.2


@dataclass(slots=True)
class Summary:
    """What a run came to."""

    num_reused: int = 0
    num_run: int = 0
    num_blocked: int = 0
    failed: list[Report] = field(default_factory=list)
    num_left: int = 0
    interrupted: bool = False
    out_of_time: bool = False
    wall_s: float = 0.0


@dataclass(slots=True, eq=False)
class _Work:
    """A job that is waiting or running."""

    trials: list[Trial]
    job: Job
    exclusive: bool
    seconds: float
    not_before: float = 0.0
    is_busy: bool = False
    """Another run holds one of its trials."""


class Runner:
    """Runs one plan once."""

    def __init__(
        self,
        plan: Plan,
        store: RecordStore,
        library: Library,
        executor: Executor,
        progress: Progress,
        *,
        facts: Mapping[str, Any],
        time_budget_s: float | None = None,
        rerun: bool = False,
        on_task_done: Callable[[Task], None] | None = None,
    ) -> None:
        self.plan, self.store, self.library = plan, store, library
        self.executor, self.progress = executor, progress
        self.facts, self.rerun = dict(facts), rerun
        self.start = time.monotonic()
        self.deadline = None if time_budget_s is None else self.start + time_budget_s
        self.on_task_done = on_task_done or (lambda task: None)
        self.summary = Summary()
        self.open = {item.trial.key for item in plan.with_action(Action.RUN)}
        self.lost: set[str] = set()
        self.stop_requested = False
        self.is_running = False
        self.tasks_left = {task.id: self._open_of(task) for task in plan.tasks}
        self._facts: dict[str, dict[str, Any]] = {}
        self._groups: dict[tuple[Any, ...], list[Trial]] = {}

    def request_stop(self) -> None:
        """Ask a run in progress to end at once; what runs is killed, what is done is kept."""
        self.stop_requested = True

    def run(self) -> Summary:
        """Do all that can be done; an interrupt or the time budget ends it early and cleanly.

        Raises RunError if records cannot be written: nothing that ran before is lost.
        """
        self.summary.num_reused = len(self.plan.with_action(Action.REUSE))
        self._record_blocked()
        waiting = self._jobs()
        running: dict[Future[list[Report]], _Work] = {}
        self.is_running = True
        finished = False
        try:
            self.progress.start([item for item in self.plan.with_action(Action.RUN)])
            self._announce_finished()
            self._loop(waiting, running)
            finished = not running
        except KeyboardInterrupt:
            self.stop_requested = True
        finally:
            self.is_running = False
            self._stop(at_once=not finished)
        self.summary.interrupted = self.stop_requested
        self.summary.num_left = len(self.open)
        self.summary.wall_s = time.monotonic() - self.start
        return self.summary

    def _loop(self, waiting: list[_Work], running: dict[Future[list[Report]], _Work]) -> None:
        while (waiting or running) and not self.stop_requested:
            self._drop_orphans(waiting)
            self._fill(waiting, running)
            if self.summary.out_of_time and not running:
                return
            if not running:
                time.sleep(POLL_S)
            done, _ = wait(running, timeout=POLL_S, return_when=FIRST_COMPLETED)
            if self.stop_requested:
                # What ended now may have been killed by the signal that asked us to stop.
                return
            for future in done:
                self._finish(future, running.pop(future), waiting)
            if self._is_late() and running:
                self.summary.out_of_time = True
                return

    def _jobs(self) -> list[_Work]:
        """Turn trials into jobs: a batch where the experiment has one, else one each."""
        grouped: dict[tuple[Any, ...], list[PlannedTrial]] = {}
        for item in self.plan.with_action(Action.RUN):
            grouped.setdefault(self._batch_of(item.trial), []).append(item)
        work = []
        for items in grouped.values():
            trials = self._batch_members(items)
            experiment = trials[0].experiment
            job = Job(
                task_module=self.library.module_of(experiment),
                experiment=experiment.id,
                points=tuple(dict(trial.params) for trial in trials),
                profile=self.plan.profile,
                root=str(self.store.workspace.root),
                facts={**self.facts, **self._facts_of(experiment), "rerun": self._reruns(items)},
                timeout_s=experiment.timeout_s * len(trials),
            )
            seconds = sum(item.estimate.seconds for item in items)
            work.append(_Work(trials, job, trials[0].needs.exclusive, seconds))
        return work

    def _batch_of(self, trial: Trial) -> tuple[Any, ...]:
        """Return what names a trial's batch: its own key where it is run alone."""
        place = self._place(trial)
        if place is None:
            return (trial.key,)
        members, number = place
        return (trial.experiment.id, members[0].key, number)

    def _place(self, trial: Trial) -> tuple[list[Trial], int] | None:
        """Return a trial's group and the number of its batch there; None where it has none.

        An upstream trial that lies outside its experiment's grid has none.
        """
        batch = trial.experiment.batch
        if batch is None or self.plan.profile not in batch.profiles:
            return None
        members = self._full_group(trial)
        keys = [member.key for member in members]
        return (members, keys.index(trial.key) // batch.size) if trial.key in keys else None

    def _full_group(self, trial: Trial) -> list[Trial]:
        """Return all trials of the grid that share a trial's batch parameters, run or not."""
        experiment = trial.experiment
        assert experiment.batch is not None
        by = experiment.batch.by
        if not any(key[0] == experiment.id for key in self._groups):
            for member in grid_of(experiment, self.plan.profile, self.plan.overrides):
                shared = (experiment.id, *(member.params.get(name) for name in by))
                self._groups.setdefault(shared, []).append(member)
        return self._groups.get((experiment.id, *(trial.params.get(name) for name in by)), [])

    def _batch_members(self, items: Sequence[PlannedTrial]) -> list[Trial]:
        """Return a batch's members: a batch with one open trial is run whole."""
        batch = items[0].trial.experiment.batch
        place = self._place(items[0].trial)
        if batch is None or place is None:
            return [item.trial for item in items]
        group, number = place
        return group[number * batch.size : (number + 1) * batch.size]

    def _reruns(self, items: Sequence[PlannedTrial]) -> bool:
        return self.rerun and any(item.stale for item in items)

    def _facts_of(self, experiment: Experiment) -> dict[str, Any]:
        """Return the code digest and the seals of all claims on an experiment, as of now."""
        if experiment.id not in self._facts:
            tasks = self.library.tasks_of(experiment)
            self._facts[experiment.id] = {
                "code": experiment_code(experiment),
                "seals": seals_of(tasks, self.plan.overrides),
            }
        return self._facts[experiment.id]

    def _fill(self, waiting: list[_Work], running: dict[Future[list[Report]], _Work]) -> None:
        """Submit what is ready, two jobs per worker, a timing trial alone."""
        if any(work.exclusive for work in running.values()):
            return
        for work in list(waiting):
            if len(running) >= 2 * self.executor.num_workers or self.stop_requested:
                break
            if not self._is_ready(work) or self._is_late(work.seconds):
                continue
            if work.exclusive and running:
                continue
            waiting.remove(work)
            future = self.executor.submit(work.job)
            running[future] = work
            # One that is done already ran in this process: its end comes before the next one.
            if work.exclusive or future.done():
                break
        if waiting and not running:
            ready = [self._is_late(work.seconds) for work in waiting if self._is_ready(work)]
            self.summary.out_of_time = self._is_late() or (bool(ready) and all(ready))

    def _is_ready(self, work: _Work) -> bool:
        sources = [source for trial in work.trials for source in trial.upstream]
        upstream_open = any(source.key in self.open for source in sources)
        return time.monotonic() >= work.not_before and not upstream_open

    def _drop_orphans(self, waiting: list[_Work]) -> None:
        """Give up jobs whose upstream failed."""
        for work in list(waiting):
            sources = [source for trial in work.trials for source in trial.upstream]
            lost = [source.name for source in sources if source.key in self.lost]
            if lost:
                waiting.remove(work)
                self._record_lost(work, Status.SKIPPED, f"needs {lost[0]}, which failed")

    def _is_late(self, seconds: float = 0.0) -> bool:
        return self.deadline is not None and time.monotonic() + seconds > self.deadline

    def _finish(self, future: Future[list[Report]], work: _Work, waiting: list[_Work]) -> None:
        try:
            reports = future.result()
        except JobFailed as failed:
            self._record_lost(work, Status.FAILED, failed.reason)
            return
        except JobLost as lost:
            log.warning("%s: %s, it is started again", work.trials[0].name, lost)
            waiting.append(replace(work, not_before=time.monotonic() + BUSY_RETRY_S))
            return
        except HarnessError as error:
            # The worker could not write: going on would lose every further result too.
            raise RunError(str(error)) from error
        if reports[0].status == BUSY:
            self._wait_for_other_run(work, waiting)
            return
        for trial, report in zip(work.trials, reports, strict=True):
            self._close(trial, report)

    def _wait_for_other_run(self, work: _Work, waiting: list[_Work]) -> None:
        if not work.is_busy:
            log.info("%s is held by another run: waiting for it", work.trials[0].name)
        later = time.monotonic() + BUSY_RETRY_S
        waiting.append(replace(work, not_before=later, is_busy=True))

    def _close(self, trial: Trial, report: Report) -> None:
        if trial.key not in self.open:
            # A member of an incomplete batch that had its result already.
            return
        self.open.discard(trial.key)
        if not Status(report.status).is_result:
            self.lost.add(trial.key)
            self.summary.failed.append(report)
        self.summary.num_run += 1
        self.progress.finished(trial, report)
        for left in self.tasks_left.values():
            left.discard(trial.key)
        self._announce_finished()

    def _announce_finished(self) -> None:
        for task in self.plan.tasks:
            if self.tasks_left.get(task.id) == set():
                del self.tasks_left[task.id]
                self.on_task_done(task)

    def _open_of(self, task: Task) -> set[str]:
        """Return the keys a task still waits for."""
        ids = {experiment.id for experiment in task.reads}
        return {
            item.trial.key
            for item in self.plan.with_action(Action.RUN)
            if item.trial.experiment.id in ids
        }

    def _record_blocked(self) -> None:
        """Leave a `skipped` record with the reason, so that tables can say NOT_RUN and why."""
        for item in self.plan.with_action(Action.BLOCKED):
            self.summary.num_blocked += 1
            old = self.store.read(item.trial)
            if isinstance(old, Record) and (old.status, old.note) == ("skipped", item.reason):
                continue
            self._write_without_rows(item.trial, Status.SKIPPED, item.reason)

    def _record_lost(self, work: _Work, status: Status, reason: str) -> None:
        for trial in work.trials:
            self._write_without_rows(trial, status, reason)
            self._close(trial, Report(key=trial.key, status=status, wall_s=0.0, note=reason))

    def _write_without_rows(self, trial: Trial, status: Status, reason: str) -> None:
        """Record an end without a result, unless another run is at the trial right now."""
        reason = reason.encode(errors="replace").decode()
        with self.store.lock(trial) as is_ours:
            if is_ours:
                self.store.write(self._empty_record(trial, status, reason))

    def _empty_record(self, trial: Trial, status: Status, reason: str) -> Record:
        return make_record(
            trial,
            {**self.facts, **self._facts_of(trial.experiment)},
            status=status,
            started_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            note=reason,
            error=reason if status is Status.FAILED else "",
        )

    def _stop(self, *, at_once: bool) -> None:
        try:
            if at_once:
                self.executor.cancel_all()
            else:
                self.executor.close()
        finally:
            self.progress.stop()
