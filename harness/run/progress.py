"""Progress of a run, on stderr: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from harness.declare.experiment import Status
from harness.run.executors.job import Report
from harness.store.trial import Trial

FEW_TRIALS = 20
"""Fewer than that get a line each, off a terminal."""
EVERY_S = 30.0
"""A longer run tells where it stands this often, and at its end."""


class Progress:
    """A line per trial of a few; of many, a line every half minute, and one per failure."""

    def __init__(self) -> None:
        self._total = self._done = self._failed = 0
        self._start = self._told = 0.0

    def start(self, num_trials: int) -> None:
        """Announce the trials to run."""
        self._total = num_trials
        self._start = self._told = time.monotonic()

    def finished(self, trial: Trial, report: Report) -> None:
        """Tell that a trial ended."""
        self._done += 1
        failed = not Status(report.status).is_result
        self._failed += failed
        now = time.monotonic()
        left_s = (now - self._start) / self._done * (self._total - self._done)
        left = f"about {left_s:.0f} s left"
        if failed or self._total < FEW_TRIALS:
            note = f": {report.note}" if report.note else ""
            ended = f"{trial.name} {report.status} in {report.wall_s:.2f} s"
            self._write(f"{ended} ({self._done} of {self._total}, {left}){note}")
        elif now - self._told >= EVERY_S or self._done == self._total:
            self._told = now
            done = f"{self._done} of {self._total} trials done"
            self._write(f"{done}, {self._failed} failed, {left}")

    def stop(self) -> None:
        """Leave the terminal as it was."""

    def _write(self, line: str) -> None:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


class LiveProgress(Progress):
    """A live bar: trials that ended, failures among them, and the time left."""

    def start(self, num_trials: int) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bars

        told = "{task.completed} of {task.total}, {task.fields[note]}"
        self._bars = Bars(*Bars.get_default_columns(), told, console=Console(stderr=True))
        self._bar = self._bars.add_task("trials", total=num_trials, note="0 failed")
        self._bars.start()

    def finished(self, trial: Trial, report: Report) -> None:
        self._failed += not Status(report.status).is_result
        self._bars.update(self._bar, advance=1, note=f"{self._failed} failed")

    def stop(self) -> None:
        self._bars.stop()


def make_progress() -> Progress:
    """Return a live bar on a terminal, plain lines elsewhere."""
    return LiveProgress() if sys.stderr.isatty() else Progress()
