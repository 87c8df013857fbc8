"""Progress of a run, on stderr: live bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from harness.declare.experiment import Status
from harness.outgoing import live_stream
from harness.run.executors.job import Report
from harness.run.plan import PlannedTrial
from harness.store.trial import Trial

if TYPE_CHECKING:
    from rich.progress import TaskID


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
FEW_BARS = 12
"""More experiments than that share one bar: a terminal has no more lines than a screen."""


class PlainProgress:
    """A line per trial of a few; of many, a line every 20 %, and one per failure.

    verbose: a line per trial, however many there are.
    """

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose
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
        if self._verbose or failed or self._total < FEW_TRIALS:
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
    """Live bars, one per experiment or one for many: the rate, failures, and the time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(file=live_stream()),
        )
        self._tasks: dict[str, TaskID] = {}
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._start = 0.0
        self._shared = ""

    def start(self, items: Sequence[PlannedTrial]) -> None:
        self._start = time.monotonic()
        if len({item.trial.experiment.id for item in items}) > FEW_BARS:
            self._shared = "trials"
        for name, count in Counter(self._bar(item.trial) for item in items).items():
            self._tasks[name] = self._bars.add_task(name, total=count, rate="", note="")
        self._bars.start()

    def _bar(self, trial: Trial) -> str:
        return self._shared or trial.experiment.id

    def finished(self, trial: Trial, report: Report) -> None:
        name = self._bar(trial)
        self._done[name] += 1
        self._failed[name] += has_failed(report)
        rate = self._done[name] / max(time.monotonic() - self._start, 1e-9)
        failed = self._failed[name]
        self._bars.update(
            self._tasks[name],
            advance=1,
            rate=f"{rate:.2f}/s",
            note=f"{failed} failed" if failed else "",
        )

    def stop(self) -> None:
        self._bars.stop()


def make_progress(*, verbose: bool = False) -> Progress:
    """Return live bars on a terminal, plain lines elsewhere."""
    return LiveProgress() if sys.stderr.isatty() else PlainProgress(verbose=verbose)
