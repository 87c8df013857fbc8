"""A failed trial keeps its checkpoint; one that makes it fail is used no second time."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import RunError
from harness.run.executors.worker import run_job
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.harness import inline_lab as lab
from tests.harness.hostile import ODD_FILES, put
from tests.harness.inline_lab import Attempt
from tests.harness.run.executors.test_local import job, trial_of

FAULT = ValueError("in its last minute")


@pytest.fixture(autouse=True)
def no_attempts() -> Iterator[None]:
    lab.attempts.clear()
    yield
    lab.attempts.clear()


def attempt(
    root: Path, *, keeps: str = "", ends: BaseException | None = None, code: str = "1"
) -> str:
    """Run the trial once: it keeps a state and ends; return the state that it found."""
    lab.calls.clear()
    lab.attempts.append(Attempt(keeps, ends))
    some = job(root, "keeps its state")
    run_job(replace(some, facts={**some.facts, "code": code}))
    (found,) = lab.calls
    return found


def lose(root: Path, *, keeps: str = "") -> str:
    """Run the trial in a worker that dies: the runner records what the worker cannot."""
    with pytest.raises(KeyboardInterrupt):
        attempt(root, keeps=keeps, ends=KeyboardInterrupt())
    trial = trial_of(job(root, "keeps its state"))
    RecordStore(Workspace(root)).write(lab.make_record(trial, status="failed", rows=()))
    return lab.calls[0]


def left(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "runs" / "checkpoints").iterdir())


def test_a_retry_goes_on_from_what_the_failed_trial_kept(tmp_path: Path) -> None:
    assert attempt(tmp_path, keeps="step 900", ends=FAULT) == "nothing"
    assert attempt(tmp_path) == "step 900"
    assert left(tmp_path) == []


def test_a_checkpoint_that_led_to_no_newer_one_is_used_once(tmp_path: Path) -> None:
    found = [attempt(tmp_path, keeps="bad", ends=FAULT)]
    found += [attempt(tmp_path, ends=FAULT) for _ in range(3)]
    assert found == ["nothing", "bad", "nothing", "nothing"]


def test_a_trial_that_gets_further_each_time_goes_on(tmp_path: Path) -> None:
    found = [attempt(tmp_path, keeps=f"step {n}", ends=FAULT) for n in range(4)]
    assert found == ["nothing", "step 0", "step 1", "step 2"]


def test_an_interrupt_is_no_failure(tmp_path: Path) -> None:
    attempt(tmp_path, keeps="step 900", ends=FAULT)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            attempt(tmp_path, ends=KeyboardInterrupt())
        assert lab.calls == ["step 900"]
    assert attempt(tmp_path) == "step 900"


def test_a_checkpoint_that_kills_its_worker_is_used_once(tmp_path: Path) -> None:
    assert [lose(tmp_path, keeps="deadly"), lose(tmp_path), lose(tmp_path)] == [
        "nothing",
        "deadly",
        "nothing",
    ]


def test_a_state_of_other_code_is_not_gone_on_from(tmp_path: Path) -> None:
    """The record would name code that trained the second half alone."""
    attempt(tmp_path, keeps="step 900", ends=FAULT, code="1")
    assert attempt(tmp_path, code="2") == "nothing"


@pytest.mark.parametrize("damage", ["{", "[" * 50_000, "pipe", "device", "dangling link"])
def test_what_cannot_be_read_beside_a_checkpoint_does_no_harm(tmp_path: Path, damage: str) -> None:
    attempt(tmp_path, keeps="step 900", ends=FAULT)
    (path,) = (tmp_path / "runs" / "checkpoints").glob("*.json")
    if damage in ODD_FILES:
        put(path, damage)
    else:
        path.write_text(damage)
    assert attempt(tmp_path) == "step 900"


def test_a_full_disk_leaves_the_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        attempt(tmp_path, keeps="step 900", ends=OSError(errno.ENOSPC, "No space left on device"))
    assert attempt(tmp_path) == "step 900"
