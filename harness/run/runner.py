"""Carries a plan out: submits jobs, survives lost workers, stops cleanly."""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import cache
from math import fsum
from typing import Any

from harness.declare.experiment import Experiment, Needs, Status
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import HarnessError, RunError
from harness.outgoing import tidy
from harness.registry import Library
from harness.run.executors.job import Executor, Job, JobFailed, JobLost, Report
from harness.run.executors.worker import BUSY
from harness.run.plan import Action, Plan, PlannedTrial
from harness.run.progress import Progress
from harness.store.code import experiment_code
from harness.store.record import Record, make_record
from harness.store.registered import registrations
from harness.store.store import RecordStore
from harness.store.trial import Trial

log = logging.getLogger(__name__)

BUSY_RETRY_S = 0.5
POLL_S = 0.2
MAX_EQUAL_ERRORS = 3
"""So many in a row stop an experiment: its other trials would most likely end alike."""


@dataclass(slots=True)
class Summary:
    """What a run came to."""

    num_reused: int = 0
    num_run: int = 0
    num_blocked: int = 0
    failed: list[Report] = field(default_factory=list)
    stopped: dict[str, str] = field(default_factory=dict)
    """Experiments that equal errors stopped, with the error; their other trials are left."""
    num_left: int = 0
    interrupted: bool = False
    out_of_time: bool = False
    wall_s: float = 0.0


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
        to_the_end: bool = False,
        rehearsed: Profile | None = None,
        on_task_done: Callable[[Task], None] | None = None,
    ) -> None:
        self.plan, self.store, self.library = plan, store, library
        self.executor, self.progress = executor, progress
        self.facts = dict(facts)
        self.start = time.monotonic()
        self.deadline = None if time_budget_s is None else self.start + time_budget_s
        self.to_the_end = to_the_end
        """Whether trials start that are declared to outlast the time budget."""
        # As at which profile trials are run in one go.
        self.rehearsed = rehearsed or plan.profile
        self.on_task_done = on_task_done or (lambda task: None)
        self.summary = Summary()
        to_run = plan.with_action(Action.RUN)
        self.open = {item.trial.key for item in to_run}
        self.num_open = Counter(item.trial.experiment.id for item in to_run)
        self.waiting = {item.trial.key: item for item in to_run}
        self.running: dict[Future[list[Report]], list[PlannedTrial]] = {}
        self.alone: set[str] = set()  # What failed with others, or was lost with its machine.
        self.lost: set[str] = set()
        self.not_before: dict[str, float] = {}
        """When a trial that another run held is looked at again."""
        self.errors: dict[str, list[str]] = {}
        """Per experiment the errors of the trials that ended last, as long as they are equal."""
        self.stop_requested = self.is_running = self.is_ending = False
        self.tasks_left = list(plan.tasks)
        self._facts_of = cache(self._facts_now)

    def request_stop(self) -> None:
        """Ask a run in progress to end at once; what runs is killed, what is done is kept."""
        self.stop_requested = True

    def run(self) -> Summary:
        """Do all that can be done; an interrupt or the time budget ends it early and cleanly.

        Raises RunError if records cannot be written: nothing that ran before is lost.
        """
        self.summary.num_reused = len(self.plan.with_action(Action.REUSE))
        self._record_blocked()
        self.is_running = True
        finished = False
        try:
            self.progress.start(len(self.waiting))
            self._loop()
            if not self.stop_requested:
                self._announce_finished()
            finished = not self.running
        except KeyboardInterrupt:
            self.stop_requested = True
        finally:
            self.is_running, self.is_ending = False, True
            try:
                stop = self.executor.close if finished else self.executor.cancel_all
                stop()
            finally:
                self.is_ending = False
                self.progress.stop()
        self.summary.interrupted = self.stop_requested
        self.summary.num_left = sum(map(self._is_left, self.open))
        self.summary.wall_s = time.monotonic() - self.start
        return self.summary

    def _is_left(self, key: str) -> bool:
        """Tell whether an open trial has no result of this run.

        One that wrote its last bytes when all was ended has one, though nobody was told.
        """
        item = self.plan.items[key]
        return item.stale or self.store.result(item.trial) is None

    def _loop(self) -> None:
        while (self.waiting or self.running) and not self.stop_requested:
            self._drop_hopeless()
            self._fill()
            self._announce_finished()
            if self.summary.out_of_time and not self.running:
                return
            if not self.running:
                time.sleep(POLL_S)
            done, _ = wait(self.running, timeout=POLL_S, return_when=FIRST_COMPLETED)
            if self.stop_requested:
                # What ended now may have been killed by the signal that asked us to stop.
                return
            for future in done:
                self._finish(future, self.running.pop(future))
            if self._is_late() and self.running:
                self.summary.out_of_time = True
                return

    def _job_of(self, items: Sequence[PlannedTrial]) -> Job:
        experiment = items[0].trial.experiment
        points = tuple(dict(item.trial.params) for item in items)
        return Job(
            task_module=self.library.module_of(experiment),
            experiment=experiment.id,
            points=points,
            profile=self.plan.profile,
            root=str(self.store.workspace.root),
            facts={**self._facts_of(experiment), "rerun": items[0].stale},
            timeout_s=fsum(map(experiment.limit_s, points)),
        )

    def _facts_now(self, experiment: Experiment) -> dict[str, Any]:
        """Return what all records of an experiment share, with what claims on it ask as of now."""
        tasks = self.library.tasks_of(experiment)
        return {
            **self.facts,
            "code": experiment_code(experiment),
            "registered": registrations(tasks, self.plan.profile, self.plan.overrides),
        }

    def _fill(self) -> None:
        """Submit what is ready, two jobs per worker, a timing trial alone and in its turn."""
        if self._is_timing:
            return
        for item in list(self.waiting.values()):
            if len(self.running) >= 2 * self.executor.num_workers or self.stop_requested:
                break
            if item.trial.key not in self.waiting:
                # It runs with one that came before.
                continue
            if not self._is_ready(item) or self._is_late(item.estimate.seconds):
                continue
            if not self._has_room(item.trial.needs):
                # What comes after it waits too: else it would be the last of all.
                break
            items = self._together_with(item)
            for each in items:
                del self.waiting[each.trial.key]
            future = self.executor.submit(self._job_of(items))
            self.running[future] = items
            # One that is done already ran in this process: its end comes before the next one.
            if item.trial.needs.exclusive or future.done():
                break
        if self.waiting and not self.running:
            ready = [
                item.estimate.seconds for item in self.waiting.values() if self._is_ready(item)
            ]
            self.summary.out_of_time = self._is_late(min(ready, default=0.0))

    def _together_with(self, item: PlannedTrial) -> list[PlannedTrial]:
        """Return a trial, and those that run in one go with it: as many as time and card hold."""
        found = [item]
        for other in self.waiting.values() if item.trial.experiment.together else ():
            if other is item or not self._goes_with(other, item):
                continue
            seconds = fsum(each.estimate.seconds for each in [*found, other])
            if self._is_late(seconds) or not self._has_room(other.trial.needs, found):
                break
            found.append(other)
        return found

    def _goes_with(self, other: PlannedTrial, item: PlannedTrial) -> bool:
        """Tell whether two trials are run in one go, if there is room for both."""
        experiment = item.trial.experiment
        together = experiment.together
        if together is None or self.rehearsed not in together.profiles:
            return False
        return (
            other.trial.experiment is experiment
            and together.shared(other.trial.params) == together.shared(item.trial.params)
            and other.stale == item.stale
            and self.alone.isdisjoint({other.trial.key, item.trial.key})
            and self._is_ready(other)
        )

    @property
    def _in_work(self) -> list[PlannedTrial]:
        return [item for items in self.running.values() for item in items]

    @property
    def _is_timing(self) -> bool:
        return any(item.trial.needs.exclusive for item in self._in_work)

    def _has_room(self, needs: Needs, beside: Sequence[PlannedTrial] = ()) -> bool:
        """Tell whether a trial may run beside those that do, and those given.

        Two that do not fit on a card side by side would end as `oom`, which is a result.
        """
        if needs.exclusive:
            return not self.running
        others = [] if self.executor.places_jobs else self._in_work
        taken = sum(item.trial.needs.gpu_bytes for item in [*others, *beside])
        return taken + needs.gpu_bytes <= self.plan.gpu_bytes

    def _is_ready(self, item: PlannedTrial) -> bool:
        upstream_open = any(source.key in self.open for source in item.trial.upstream)
        return time.monotonic() >= self.not_before.get(item.trial.key, 0.0) and not upstream_open

    def _drop_hopeless(self) -> None:
        """Give up jobs whose upstream failed, and leave those of a stopped experiment."""
        if not self.lost and not self.summary.stopped:
            return
        for item in list(self.waiting.values()):
            name = item.trial.experiment.id
            lost = [source.name for source in item.trial.upstream if source.key in self.lost]
            if name in self.summary.stopped:
                del self.waiting[item.trial.key]
                self.lost.add(item.trial.key)
                self._write_without_rows(
                    item.trial,
                    Status.SKIPPED,
                    f"{name} was stopped by the same error three times in a row:"
                    f" {self.summary.stopped[name]}",
                )
            elif lost:
                del self.waiting[item.trial.key]
                self._record_lost(item.trial, Status.SKIPPED, f"needs {lost[0]}, which failed")

    def _is_late(self, seconds: float = 0.0) -> bool:
        ahead = 0.0 if self.to_the_end else seconds
        return self.deadline is not None and time.monotonic() + ahead > self.deadline

    def _finish(self, future: Future[list[Report]], items: Sequence[PlannedTrial]) -> None:
        try:
            reports = future.result()
        except JobLost as lost:
            self._lose(items, str(lost), again=True)
            return
        except JobFailed as failed:
            self._lose(items, str(failed))
            return
        except HarnessError as error:
            # The worker could not write: going on would lose every further result too.
            raise RunError(str(error)) from error
        for item, report in zip(items, reports, strict=True):
            if report.status == BUSY:
                # Another run holds it: what that one leaves is looked at again.
                self.not_before[item.trial.key] = time.monotonic() + BUSY_RETRY_S
                self.waiting[item.trial.key] = item
            else:
                self._close(item.trial, report)

    def _lose(self, items: Sequence[PlannedTrial], reason: str, *, again: bool = False) -> None:
        """Record a trial whose worker was lost; several run again, for one may be at fault.

        again: a single trial runs once more, for its machine was lost.
        """
        had_its_second_start = items[0].trial.key in self.alone
        if len(items) == 1 and (had_its_second_start or not again):
            self._record_lost(items[0].trial, Status.FAILED, reason)
            return
        name = items[0].trial.name
        more = f" and {len(items) - 1} more run one by one" if len(items) > 1 else " runs again"
        log.warning("%s%s: %s", name, more, tidy(reason))
        for item in items:
            self.alone.add(item.trial.key)
            self.waiting[item.trial.key] = item

    def _close(self, trial: Trial, report: Report) -> None:
        self.open.discard(trial.key)
        self.num_open[trial.experiment.id] -= 1
        if not Status(report.status).is_result:
            self.lost.add(trial.key)
            self.summary.failed.append(report)
        self.summary.num_run += 1
        self._compare_errors(trial.experiment.id, report)
        self.progress.finished(trial, report)

    def _compare_errors(self, name: str, report: Report) -> None:
        """Stop an experiment whose last trials all failed with the error of this one."""
        if Status(report.status).is_result:
            self.errors.pop(name, None)
        elif report.status == Status.FAILED:
            before = self.errors.get(name, [])
            self.errors[name] = [*(each for each in before if each == report.note), report.note]
            if len(self.errors[name]) == MAX_EQUAL_ERRORS:
                self.summary.stopped[name] = report.note

    def _announce_finished(self) -> None:
        """Say which tasks have all their trials, beside trials that run: to draw takes a while."""
        if self._is_timing:
            return
        for task in list(self.tasks_left):
            if not any(self.num_open[experiment.id] for experiment in task.reads):
                self.tasks_left.remove(task)
                self.on_task_done(task)

    def _record_blocked(self) -> None:
        """Leave a `skipped` record with the reason, so that tables can say NOT_RUN and why."""
        for item in self.plan.with_action(Action.BLOCKED):
            self.summary.num_blocked += 1
            old = self.store.read(item.trial)
            if isinstance(old, Record) and (old.status, old.note) == ("skipped", tidy(item.reason)):
                continue
            self._write_without_rows(item.trial, Status.SKIPPED, item.reason)

    def _record_lost(self, trial: Trial, status: Status, reason: str) -> None:
        reason = tidy(reason)
        self._write_without_rows(trial, status, reason)
        report = Report(status=status, wall_s=0.0, note=reason)
        self._close(trial, report)

    def _write_without_rows(self, trial: Trial, status: Status, reason: str) -> None:
        """Record an end without a result, unless another run is at the trial right now."""
        record = make_record(
            trial,
            self._facts_of(trial.experiment),
            status=status,
            started_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            note=reason,
            error=reason if status is Status.FAILED else "",
        )
        with self.store.lock(trial) as is_ours:
            if is_ours:
                self.store.write(record)
