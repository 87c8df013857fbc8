"""A trial that was cut off goes on from what it kept, unless other code kept it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import RunError
from harness.run.executors.worker import run_job
from tests.harness import inline_lab as lab
from tests.harness.inline_lab import Attempt
from tests.harness.run.executors.test_local import job

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


def test_a_retry_goes_on_from_what_the_failed_trial_kept(tmp_path: Path) -> None:
    found = [attempt(tmp_path, keeps=f"step {n}", ends=FAULT) for n in range(2)]
    assert [*found, attempt(tmp_path)] == ["nothing", "step 0", "step 1"]
    assert not list((tmp_path / "runs" / "checkpoints").iterdir())


@pytest.mark.parametrize(
    ("ends", "escapes"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "No space left on device"), RunError),
    ],
)
def test_an_interrupt_and_a_full_disk_leave_the_checkpoint(
    tmp_path: Path, ends: BaseException, escapes: type[BaseException]
) -> None:
    with pytest.raises(escapes):
        attempt(tmp_path, keeps="step 900", ends=ends)
    assert attempt(tmp_path) == "step 900"


def test_a_state_of_other_code_is_not_gone_on_from(tmp_path: Path) -> None:
    """The record would name code that trained the second half alone."""
    attempt(tmp_path, keeps="step 900", ends=FAULT, code="1")
    assert attempt(tmp_path, code="2") == "nothing"
    assert not list((tmp_path / "runs" / "checkpoints").iterdir())
