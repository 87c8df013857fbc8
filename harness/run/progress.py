"""Progress of a run, on stderr: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from harness.executors.job import Report
from harness.run.plan import PlannedTrial
from harness.run.trial import Trial


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


class PlainProgress:
    """One line per finished trial, starting with its address."""

    def __init__(self) -> None:
        self._total = 0
        self._done = 0
        self._start = 0.0

    def start(self, items: Sequence[PlannedTrial]) -> None:
        self._total, self._start = len(items), time.monotonic()

    def finished(self, trial: Trial, report: Report) -> None:
        self._done += 1
        left_s = (time.monotonic() - self._start) / self._done * (self._total - self._done)
        note = f": {report.note}" if report.note else ""
        # A reader that went away (head, a closed terminal) must not end the run.
        with suppress(BrokenPipeError):
            sys.stderr.write(
                f"{trial.name} {report.status} in {report.wall_s:.2f} s"
                f" ({self._done} of {self._total}, about {left_s:.0f} s left){note}\n"
            )
            sys.stderr.flush()

    def stop(self) -> None:
        """Do nothing: lines need no cleaning up."""


class LiveProgress:
    """A live table: per experiment a bar, the rate, failures, and the time left."""

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
            console=Console(stderr=True),
        )
        self._tasks: dict[str, int] = {}
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._start = 0.0

    def start(self, items: Sequence[PlannedTrial]) -> None:
        self._start = time.monotonic()
        for name, count in Counter(item.trial.experiment.id for item in items).items():
            self._tasks[name] = self._bars.add_task(name, total=count, rate="", note="")
        self._bars.start()

    def finished(self, trial: Trial, report: Report) -> None:
        name = trial.experiment.id
        self._done[name] += 1
        self._failed[name] += report.status in ("failed", "skipped")
        rate = self._done[name] / max(time.monotonic() - self._start, 1e-9)
        failed = self._failed[name]
        self._bars.update(
            self._tasks[name],  # type: ignore[arg-type]
            advance=1,
            rate=f"{rate:.2f}/s",
            note=f"{failed} failed" if failed else "",
        )

    def stop(self) -> None:
        self._bars.stop()


def make_progress() -> Progress:
    """Return the live table on a terminal, plain lines elsewhere."""
    return LiveProgress() if sys.stderr.isatty() else PlainProgress()
