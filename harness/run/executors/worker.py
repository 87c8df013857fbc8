"""What a worker does with a job: lock, run, write the record; and a worker in this process."""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import gc
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.choices import chose, noted
from harness.declare.experiment import Outcome, RunResult, Status
from harness.errors import HarnessError, RunError
from harness.outgoing import TRACEBACK_CHARS, tidy
from harness.registry import load_experiment
from harness.run.executors.context import TrialContext
from harness.run.executors.job import Job, JobFailed, Report
from harness.store.record import Record, make_record, plain_rows
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace

BUSY = "busy"


def run_job(job: Job) -> list[Report]:
    """Run a job's trials, write their records, and say how each ended.

    Raises RunError where a record cannot be written; then nothing of it is on disk. Raises
    JobFailed for several trials whose run in one go raises, and for an error of the harness itself:
    an exception of another package might not survive the way to the runner.
    """
    try:
        return _run_job(job)
    except (HarnessError, JobFailed):
        raise
    except Exception as error:
        raise JobFailed(f"{type(error).__name__}: {error}") from error


def release_gpu() -> bool:
    """Free the GPU memory of a trial that has ended; say whether its process can use the GPU again.

    Other processes may need what torch would keep. An address that is not there, or an assertion on
    the device, breaks what a process holds of a GPU for good: all that came after would fail with
    the error of one trial.
    """
    torch = sys.modules.get("torch")
    try:
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.synchronize()
            gc.collect()
            torch.cuda.empty_cache()
    except RuntimeError:
        return False
    return True


def trials_of(job: Job) -> list[Trial]:
    """Return the trials of a job."""
    experiment = load_experiment(job.task_module, job.experiment)
    return [Trial(experiment, point, job.profile) for point in job.points]


def _run_job(job: Job) -> list[Report]:
    store, trials = RecordStore(Workspace(Path(job.root))), trials_of(job)
    records: dict[str, Record] = {}
    with ExitStack() as locks:
        ours = [trial for trial in trials if locks.enter_context(store.lock(trial))]
        for trial in ours:
            # Another run may have finished it between the plan and the lock.
            if finished := _finished(store, trial, job):
                records[trial.key] = finished
        if left := [trial for trial in ours if trial.key not in records]:
            records |= _run_trials(left, job, store)
    return [_report(records.get(trial.key)) for trial in trials]


def _report(record: Record | None) -> Report:
    if record is None:
        return Report(status=BUSY, wall_s=0.0)
    return Report(status=record.status, wall_s=record.provenance.wall_s, note=record.note)


def _finished(store: RecordStore, trial: Trial, job: Job) -> Record | None:
    """Return a trial's result if it need not run: its artifacts too, and of this code."""
    record = store.result(trial)
    if record is None or store.artifacts_intact(trial, record):
        return None
    if job.facts["rerun"] and record.provenance.code != job.facts["code"]:
        return None
    return record


def _run_trials(trials: Sequence[Trial], job: Job, store: RecordStore) -> dict[str, Record]:
    """Run trials, several in one go, and write their records, which are returned by key."""
    started_at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    start = time.perf_counter()
    code = job.facts["code"]
    contexts = [TrialContext(trial, store, job.profile, code=code) for trial in trials]
    with noted() as choices:
        if len(trials) > 1:
            ends = [(outcome, "") for outcome in _carry_out_together(trials, contexts)]
        else:
            ends = [_carry_out(trials[0], contexts[0])]
    wall_s = (time.perf_counter() - start) / len(trials)
    told = {"started_at": started_at, "wall_s": wall_s, "choices": choices}
    return {
        trial.key: _write(trial, context, *end, told, job, store)
        for trial, context, end in zip(trials, contexts, ends, strict=True)
    }


def _write(
    trial: Trial,
    context: TrialContext,
    outcome: Outcome,
    error: str,
    told: Mapping[str, Any],
    job: Job,
    store: RecordStore,
) -> Record:
    """Write the record of a trial that ran; told: what trials of one go share."""
    old, facts = store.result(trial), job.facts
    if old is not None:
        # Its result was known before this run: nothing that is asked now was asked first.
        facts = {**facts, "registered": old.registered}
    record = make_record(
        trial,
        facts,
        status=outcome.status,
        note=outcome.note,
        # Results are committed, and a traceback names folders of this machine.
        error="" if outcome.status.is_result else error,
        rows=outcome.rows,
        artifacts=() if error else context.artifacts,
        control=context.control,
        data=context.data_provenance(),
        **told,
    )
    store.renew(trial, record, rerun=bool(job.facts["rerun"]))
    # A failed trial is tried again, and may go on from there.
    if record.is_result:
        context.discard_checkpoints()
    return record


def _carry_out_together(trials: Sequence[Trial], contexts: Sequence[TrialContext]) -> list[Outcome]:
    """Return the outcome of each of several trials.

    Raises JobFailed whatever goes wrong: it would be told of each, and may be the fault of one.
    """
    experiment = trials[0].experiment
    assert experiment.together is not None
    chose("together", f"{len(trials)} trials")
    try:
        points = [experiment.typed(trial.params) for trial in trials]
        with contextlib.redirect_stdout(sys.stderr):
            results = experiment.function(experiment.together.run)(points, contexts)
        return [_outcome(result) for _, result in zip(trials, results, strict=True)]
    except (Exception, SystemExit) as caught:
        if _is_disk_full(caught):
            raise RunError(str(caught)) from caught
        why = tidy(f"{type(caught).__name__}: {caught}")
    # Not from what was caught, which holds all tensors of the run.
    raise JobFailed(why)


def _carry_out(trial: Trial, context: TrialContext) -> tuple[Outcome, str]:
    """Return the trial's outcome, and the text of the error that ended it, if one did.

    Raises RunError where the disk is full: the next trials would only fail too.
    """
    experiment = trial.experiment
    try:
        # Standard output is for results: what a trial or its library prints is none.
        with contextlib.redirect_stdout(sys.stderr):
            result = experiment.function(experiment.run)(experiment.typed(trial.params), context)
        return _outcome(result), ""
    except (Exception, SystemExit) as caught:  # whatever a trial raises is its record's error
        if _is_disk_full(caught):
            raise RunError(str(caught)) from caught
        status = Status.OOM if _is_out_of_memory(caught) else Status.FAILED
        # Tidy before its last line is looked for: a library's message may hold anything.
        text = tidy("".join(traceback.format_exception(caught)), most=TRACEBACK_CHARS)
        return Outcome(rows=(), status=status, note=text.splitlines()[-1]), text


def _outcome(result: RunResult) -> Outcome:
    """Return a run's result as an outcome; a value that is not finite makes it diverged."""
    outcome = result if isinstance(result, Outcome) else Outcome(rows=result)
    rows, diverged = plain_rows(outcome.rows)
    if diverged and outcome.status is Status.DONE:
        return Outcome(rows=rows, status=Status.DIVERGED, note="a value is not finite")
    return Outcome(rows=rows, status=outcome.status, note=outcome.note)


def _is_disk_full(error: BaseException) -> bool:
    cause = error.__cause__ if isinstance(error, RunError) else error
    return isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)


def _is_out_of_memory(error: BaseException) -> bool:
    # By name: torch must not be imported for a trial that did not use it.
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


class InlineExecutor:
    """Runs jobs in this process, one after another, for a debugger; a crash of one ends the run."""

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
