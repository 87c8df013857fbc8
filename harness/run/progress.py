"""Progress of a run, on stderr: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Protocol

from harness.declare.experiment import Status
from harness.run.executors.job import Report
from harness.run.plan import PlannedTrial
from harness.store.trial import Trial


class Progress(Protocol):
    """What a runner tells the person who waits."""

    def start(self, items: Sequence[PlannedTrial]) -> None:
        """Announce the trials to run."""
        ...

    def finished(self, trial: Trial, report: Report) -> None:
        """Tell that a trial ended."""
        ...

    def stop(self) -> None:
        """Leave the terminal as it was."""
        ...


FEW_TRIALS = 20
"""Fewer than that get a line each, off a terminal."""
NUM_LINES = 5
"""How often a longer run tells where it stands."""


class PlainProgress:
    """A line per trial of a few; of many, a line every 20 %, and one per failure."""

    def __init__(self) -> None:
        self._total = 0
        self._done = 0
        self._failed = 0
        self._start = 0.0

    def start(self, items: Sequence[PlannedTrial]) -> None:
        self._total, self._start = len(items), time.monotonic()

    def finished(self, trial: Trial, report: Report) -> None:
        self._done += 1
        failed = has_failed(report)
        self._failed += failed
        left_s = (time.monotonic() - self._start) / self._done * (self._total - self._done)
        if failed or self._total < FEW_TRIALS:
            note = f": {report.note}" if report.note else ""
            _write(
                f"{trial.name} {report.status} in {report.wall_s:.2f} s"
                f" ({self._done} of {self._total}, about {left_s:.0f} s left){note}"
            )
        elif self._done * NUM_LINES // self._total > (self._done - 1) * NUM_LINES // self._total:
            _write(
                f"{self._done} of {self._total} trials done, {self._failed} failed,"
                f" about {left_s:.0f} s left"
            )

    def stop(self) -> None:
        """Do nothing: lines need no cleaning up."""


def has_failed(report: Report) -> bool:
    """Return whether a trial ended without a result."""
    return not Status(report.status).is_result


def _write(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class LiveProgress:
    """A live bar: trials that ended, failures among them, and the time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bars

        told = "{task.completed} of {task.total}, {task.fields[note]}"
        self._bars = Bars(*Bars.get_default_columns(), told, console=Console(stderr=True))
        self._failed = 0

    def start(self, items: Sequence[PlannedTrial]) -> None:
        self._bar = self._bars.add_task("trials", total=len(items), note="0 failed")
        self._bars.start()

    def finished(self, trial: Trial, report: Report) -> None:
        self._failed += has_failed(report)
        self._bars.update(self._bar, advance=1, note=f"{self._failed} failed")

    def stop(self) -> None:
        self._bars.stop()


def make_progress() -> Progress:
    """Return a live bar on a terminal, plain lines elsewhere."""
    return LiveProgress() if sys.stderr.isatty() else PlainProgress()
