"""Progress off a terminal: few lines however many trials, and a line for every failure."""

from __future__ import annotations

import pytest

from harness.run import progress as progress_module
from harness.run.executors.job import Report
from harness.run.progress import LiveProgress, Progress
from harness.store.trial import grid_of
from tests.harness.inline_lab import SQUARES

TRIAL = grid_of(SQUARES, "cpu")[0]


def lines_of(capsys: pytest.CaptureFixture[str], statuses: list[str]) -> list[str]:
    """Return what is told while trials end so, one after the other."""
    progress = Progress()
    progress.start(len(statuses))
    for status in statuses:
        note = "too square" if status == "failed" else ""
        progress.finished(TRIAL, Report(status=status, wall_s=0.5, note=note))
    return capsys.readouterr().err.splitlines()


def test_a_live_bar_counts_trials_and_failures(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LiveProgress()
    progress.start(3)
    progress.finished(TRIAL, Report(status="failed", wall_s=0.5))
    progress.stop()
    (line,) = capsys.readouterr().err.splitlines()
    assert "1 of 3, 1 failed" in line


def test_many_trials_get_a_line_each_half_minute_and_a_last_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    last = "100 of 100 trials done, 0 failed, about 0 s left"
    assert lines_of(capsys, ["done"] * 100) == [last]
    monkeypatch.setattr(progress_module, "EVERY_S", 0.0)
    lines = lines_of(capsys, ["done"] * 100)
    assert (len(lines), lines[-1]) == (100, last)


def test_failures_are_told_at_once_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    lines = lines_of(capsys, ["done", "failed", "oom", "skipped", *["done"] * 96])
    failed = [line for line in lines if line.startswith(TRIAL.name)]
    assert [line.split()[-1] for line in failed if "failed" in line] == ["square"]
    # Out of memory is a result: it is what the trial came to.
    assert len(failed) == 2 and "skipped" in failed[1]
    assert lines[2].startswith("100 of 100 trials done, 2 failed")
