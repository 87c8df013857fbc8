"""What happens inside a worker process: lock, run, write the record."""

from __future__ import annotations

import ctypes
import datetime as dt
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harness.errors import RunError
from harness.executors import Job, Report
from harness.executors.context import TrialContext
from harness.records import Provenance, Record, RecordStore, plain_rows
from harness.registry import load_experiment
from harness.task import Experiment, Outcome, RunResult, Status
from harness.trial import Trial
from harness.workspace import Workspace

PR_SET_PDEATHSIG = 1
BUSY = "busy"


def start_worker(runner_pid: int) -> None:
    """Prepare a fresh worker: one thread, deaf to Ctrl-C, gone when its runner is.

    The environment is set before torch is imported: OpenMP reads it once. Without a passive
    wait policy two busy processes can slow each other twenty-fold.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    # The runner decides what an interrupt means; a worker would only die half-way.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(runner_pid)


def die_with(parent_pid: int) -> None:
    """Make this process end when its parent does, however the parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent_pid,), daemon=True).start()
    # The parent may have died before the request was made.
    if os.getppid() != parent_pid:
        os._exit(1)


def _watch(parent_pid: int) -> None:
    while os.getppid() == parent_pid:
        time.sleep(0.2)
    os._exit(1)


def run_job(job: Job) -> list[Report]:
    """Run a job's trials, write their records, and say how each ended.

    Raises RunError where a record cannot be written; then nothing of it is on disk.
    """
    store = RecordStore(Workspace(Path(job.root)))
    experiment = load_experiment(job.task_module, job.experiment)
    trials = [Trial(experiment, point, job.profile) for point in job.points]
    with ExitStack() as stack:
        if not all(stack.enter_context(_locked(store, trial)) for trial in trials):
            return [Report(key=trial.key, status=BUSY, wall_s=0.0) for trial in trials]
        # Another run may have finished them between the plan and the lock.
        finished = [store.result(trial) for trial in trials]
        if not job.facts["rerun"] and all(finished):
            return [_report(record) for record in finished if record]
        return [_report(record) for record in _run_trials(experiment, trials, job, store)]


@contextmanager
def _locked(store: RecordStore, trial: Trial) -> Iterator[bool]:
    """Hold a trial's lock; the kernel releases it if this process dies. Yields False if taken."""
    path = store.workspace.runs / "locks" / f"{trial.key}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _run_trials(
    experiment: Experiment, trials: Sequence[Trial], job: Job, store: RecordStore
) -> list[Record]:
    contexts = [TrialContext(trial, store, job.profile) for trial in trials]
    started_at = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    start = time.perf_counter()
    error = ""
    results: Sequence[RunResult] = [()] * len(trials)
    status: Status | None = None
    try:
        if len(trials) > 1 and experiment.batch is not None:
            results = experiment.batch.run([dict(trial.params) for trial in trials], contexts)
        else:
            results = [experiment.run(dict(trials[0].params), contexts[0])]
        outcomes = [_outcome(result) for result in results]
    except Exception as caught:  # noqa: BLE001 - whatever a trial raises is its record's error
        status = Status.OOM if _is_out_of_memory(caught) else Status.FAILED
        error = "".join(traceback.format_exception(caught))
        outcomes = [Outcome(rows=())] * len(trials)
    if len(outcomes) != len(trials):
        raise RunError(f"{experiment.id}: a batch of {len(trials)} gave {len(outcomes)} results")
    wall_s = (time.perf_counter() - start) / len(trials)
    records = [
        _record(trial, context, outcome, status, error, started_at, wall_s, job)
        for trial, context, outcome in zip(trials, contexts, outcomes, strict=True)
    ]
    for record, context in zip(records, contexts, strict=True):
        store.write(record, replace=bool(job.facts["rerun"]))
        context.discard_checkpoint()
    return records


def _outcome(result: RunResult) -> Outcome:
    """Return a run's result as an outcome; a value that is not finite makes it diverged."""
    outcome = result if isinstance(result, Outcome) else Outcome(rows=result)
    rows, diverged = plain_rows(outcome.rows)
    if diverged and outcome.status is Status.DONE:
        return Outcome(rows=rows, status=Status.DIVERGED, note="a value is not finite")
    return Outcome(rows=rows, status=outcome.status, note=outcome.note)


def _is_out_of_memory(error: BaseException) -> bool:
    # By name: torch must not be imported for a trial that did not use it.
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _record(
    trial: Trial,
    context: TrialContext,
    outcome: Outcome,
    status: Status | None,
    error: str,
    started_at: str,
    wall_s: float,
    job: Job,
) -> Record:
    facts: dict[str, Any] = job.facts
    return Record(
        key=trial.key,
        experiment=trial.experiment.id,
        version=trial.experiment.version,
        profile=trial.profile,
        device=trial.needs.device,
        params=dict(trial.params),
        upstream=[source.key for source in trial.upstream],
        status=status or outcome.status,
        note=outcome.note or (error.splitlines()[-1] if error else ""),
        error=error,
        rows=[dict(row) for row in outcome.rows],
        artifacts=context.artifacts if status is None else [],
        seals=facts["seals"],
        control=context.control,
        provenance=Provenance(
            commit=facts["commit"],
            dirty=facts["dirty"],
            started_at=started_at,
            wall_s=round(wall_s, 4),
            code=facts["code"],
            machine=facts["machine"],
            versions=facts["versions"],
            data=context.data_provenance(),
            overrides=facts["overrides"],
        ),
    )


def _report(record: Record) -> Report:
    return Report(
        key=record.key,
        status=record.status,
        wall_s=record.provenance.wall_s,
        note=record.note,
    )
