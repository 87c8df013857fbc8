"""Executors: a lost worker costs its job, and no worker outlives its runner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.declare.params import Scalar
from harness.errors import RunError
from harness.run.executors import local
from harness.run.executors.job import Job, JobFailed
from harness.run.executors.local import LocalExecutor
from harness.run.executors.worker import BUSY, run_job
from harness.store.record import Record
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from tests.harness.inline_lab import FACTS, FATES
from tests.harness.processes import assert_gone, descendants
from tests.waiting import wait_for


def job(root: Path, fate: str, *, number: int = 0, timeout_s: float = 60.0) -> Job:
    params: dict[str, Scalar] = {"fate": fate, "number": number, "seed": 0}
    facts = {**FACTS, "overrides": {}, "registered": {}, "code": "0123456789abcdef", "rerun": False}
    return Job(
        task_module="tests.harness.inline_lab",
        experiment=FATES.id,
        points=(params,),
        profile="cpu",
        root=str(root),
        facts=facts,
        timeout_s=timeout_s,
    )


def trial_of(some_job: Job) -> Trial:
    (params,) = some_job.points
    return Trial(FATES, params, "cpu")


@pytest.fixture(scope="module")
def pool() -> Iterator[LocalExecutor]:
    executor = LocalExecutor(1)
    yield executor
    executor.close()


def run_to_end(pool: LocalExecutor, some_job: Job) -> str:
    """Return how a job ended: a status, or why it failed."""
    try:
        (report,) = pool.submit(some_job).result(timeout=60)
    except JobFailed as error:
        return str(error)
    return report.status


def test_a_worker_that_dies_costs_its_job_and_the_next_ones_run(
    pool: LocalExecutor, tmp_path: Path
) -> None:
    futures = [pool.submit(job(tmp_path, fate)) for fate in ("ok", "die", "well")]
    with pytest.raises(JobFailed, match="its worker died \\(exit code -9\\)"):
        futures[1].result(timeout=60)
    (first,), (last,) = (futures[number].result(timeout=60) for number in (0, 2))
    assert (first.status, last.status) == ("done", "done")


def test_a_trial_that_loses_the_gpu_costs_no_other_one(pool: LocalExecutor, tmp_path: Path) -> None:
    """There is no GPU here: what CUDA says after an illegal access is said by a stand-in."""
    assert run_to_end(pool, job(tmp_path, "well")) == "done"
    before = workers()
    assert run_to_end(pool, job(tmp_path, "lose the GPU")) == "failed"
    told = RecordStore(Workspace(tmp_path)).read(trial_of(job(tmp_path, "lose the GPU")))
    assert isinstance(told, Record) and "illegal memory access" in told.note
    # The next trial is done by another worker, which has a GPU that answers.
    assert run_to_end(pool, job(tmp_path, "ok")) == "done"
    assert len(before) == 1 and not before & workers()


def test_a_job_that_takes_too_long_is_ended(pool: LocalExecutor, tmp_path: Path) -> None:
    # The trial would take ten minutes: the future's own limit ends a test that waits for it.
    assert run_to_end(pool, job(tmp_path, "hang", timeout_s=1.0)) == "it ran longer than 1 s"
    assert RecordStore(Workspace(tmp_path)).read(trial_of(job(tmp_path, "hang"))) is None
    assert run_to_end(pool, job(tmp_path, "ok")) == "done"


def test_a_process_that_does_not_end_at_once_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver may hold one that was killed: here its kill does nothing."""
    monkeypatch.setattr(local, "EXIT_S", 0.1)
    before, executor = workers(), LocalExecutor(1)
    try:
        with monkeypatch.context() as held:
            held.setattr(local.SPAWN.Process, "kill", lambda process: None)
            told = run_to_end(executor, job(tmp_path, "hang", timeout_s=1.0))
        assert told == "it ran longer than 1 s" and len(workers() - before) == 1
    finally:
        for pid in workers() - before:
            os.kill(pid, signal.SIGKILL)
        executor.close()


def test_an_exception_that_cannot_cross_processes_does_not_stop_the_pool(
    pool: LocalExecutor, tmp_path: Path
) -> None:
    assert run_to_end(pool, job(tmp_path, "odd exception")) == "failed"
    assert run_to_end(pool, job(tmp_path, "ok")) == "done"


def test_an_idle_worker_that_is_killed_is_replaced(pool: LocalExecutor, tmp_path: Path) -> None:
    assert run_to_end(pool, job(tmp_path, "ok")) == "done"
    (victim,) = workers()
    os.kill(victim, signal.SIGKILL)
    assert_gone([victim])
    assert run_to_end(pool, job(tmp_path, "well")) == "done"


def workers() -> set[int]:
    return {pid for pid in descendants(os.getpid()) if says(pid, b"spawn_main")}


def says(pid: int, word: bytes) -> bool:
    """Say whether a word is in a process' command."""
    try:
        return word in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_worker_has_one_thread_and_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the worker has must not come from the one who runs the tests.
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf_VerySecretToken7")
    some = job(tmp_path, "environment")
    with closing(LocalExecutor(1)) as executor:
        assert run_to_end(executor, some) == "done"
    record = RecordStore(Workspace(tmp_path)).result(trial_of(some))
    assert record is not None
    assert record.rows == [
        {
            "threads": "1", "wait": "passive", "sigint": "ignored", "blocked": False,
            "token": "***", "guarded": True,
        }
    ]  # fmt: skip


def test_a_record_that_cannot_be_written_reaches_the_runner_as_one_sentence(
    pool: LocalExecutor, tmp_path: Path
) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    with pytest.raises(RunError, match="cannot lock"):
        pool.submit(job(tmp_path, "ok")).result(timeout=60)


def test_a_trial_that_another_process_holds_is_busy_until_that_one_dies(tmp_path: Path) -> None:
    some = job(tmp_path, "ok")
    lock = RecordStore(Workspace(tmp_path)).workspace.runs / "locks" / f"{trial_of(some).key}.lock"
    lock.parent.mkdir(parents=True)
    code = (
        "import sys, time; from filelock import FileLock; lock = FileLock(sys.argv[1]);"
        "lock.acquire(); print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        assert [report.status for report in run_job(some)] == [BUSY]
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert [report.status for report in run_job(some)] == ["done"]


def test_cancelling_ends_running_jobs_with_their_fresh_processes(tmp_path: Path) -> None:
    before = set(descendants(os.getpid()))
    executor = LocalExecutor(1)
    executor.submit(job(tmp_path, "hang afresh"))
    wait_for((tmp_path / "hang").exists)
    started = set(descendants(os.getpid())) - before
    worker, fresh = (
        [pid for pid in started if says(pid, word)] for word in (b"spawn_main", b"fresh_process")
    )
    assert len(worker) == len(fresh) == 1
    executor.cancel_all()
    assert_gone([*worker, *fresh])
