"""Run tests in forks of this process, each with a fault of its own or none.

What takes long to import was imported once, here; what a fault may change is imported there.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.checkout import ROOT
from tests.mutate.apply import announce
from tests.mutate.fault import Fault

Ended = Literal["caught", "survived", "error"]
HEAVY = (
    "hypothesis",
    "pandas",
    "peft",
    "scipy.stats",
    "torch",
    "torch._dynamo",
    "torch.distributed",
    "transformers.models.gpt2.modeling_gpt2",
    "transformers.models.llama.modeling_llama",
)
"""What tests of papers import that is not ours."""
OPTIONS = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "-m", "not timing")
FORK = get_context("fork")


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """Tests to be run, with a fault or as the code is; the first failure ends them."""

    fault: Fault | None
    folder: Path
    """What names of tests start from."""
    tests: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of an attempt."""

    attempt: Attempt
    ended: Ended
    """caught: a test failed. error: nothing can be said."""
    seconds: float
    test: str = ""
    """The first one that failed."""
    why: str = ""
    """The first line of its error, or what went wrong outside of any test."""


def warm_up(heavy: Sequence[str]) -> None:
    """Import once what every fork would import for itself: plugins of pytest, and what is heavy."""
    for name in heavy:
        # Whose extra is not installed: its tests say so.
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    nothing = str(Path(__file__).with_name("__init__.py"))
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["--collect-only", *OPTIONS, nothing])
    gc.collect()
    gc.freeze()


@dataclass(kw_only=True, slots=True)
class _Running:
    """A fork that runs an attempt."""

    attempt: Attempt
    process: Any
    line: Connection
    folder: tempfile.TemporaryDirectory[str]
    start: float = field(default_factory=time.monotonic)

    def end(self, timeout_s: float) -> Outcome:
        """Return what came of it, and leave no process of its own."""
        seconds, late = time.monotonic() - self.start, self.process.is_alive()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.join()
        seen = _Seen(why=f"no answer in {timeout_s:g} s" if late else "")
        with contextlib.suppress(EOFError):
            seen = self.line.recv()
        with self.folder as folder:
            ended, why = _judge(seen, Path(folder))
        return Outcome(
            attempt=self.attempt, ended=ended, seconds=seconds, test=seen.test, why=why
        )  # fmt: skip


def run_all(attempts: Sequence[Attempt], *, jobs: int, timeout_s: float) -> Iterator[Outcome]:
    """Run attempts, so many side by side, and yield outcomes as they come."""
    waiting, running = list(attempts), dict[int, _Running]()
    while waiting or running:
        while waiting and len(running) < jobs:
            begun = _begin(waiting.pop(0))
            running[begun.process.sentinel] = begun
        oldest = min(each.start for each in running.values())
        wait(running, max(0.0, oldest + timeout_s - time.monotonic()))
        for sentinel, each in list(running.items()):
            if not each.process.is_alive() or time.monotonic() - each.start >= timeout_s:
                del running[sentinel]
                yield each.end(timeout_s)


def _begin(attempt: Attempt) -> _Running:
    ours, theirs = FORK.Pipe(duplex=False)
    folder = tempfile.TemporaryDirectory()
    process = FORK.Process(target=_run, args=(attempt, theirs, Path(folder.name)))
    process.start()
    theirs.close()
    return _Running(attempt=attempt, process=process, line=ours, folder=folder)


def _run(attempt: Attempt, line: Connection, folder: Path) -> None:
    """Run the tests in this fork and tell what was seen."""
    # A group of its own, so that nothing which tests start outlives it.
    os.setsid()
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    # A test that is skipped has caught nothing.
    os.environ.pop("REPRO_NO_SKIPS", None)
    seen = _Seen()
    if attempt.fault is not None:
        text = folder / "text"
        text.write_text(attempt.fault.text(), encoding="utf-8")
        announce(attempt.fault.module, text)
    places = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(attempt.folder))
    tests = [str(attempt.folder / name) for name in attempt.tests]
    seen.code = int(pytest.main([*OPTIONS, *places, *tests], plugins=[_Watch(seen)]))
    line.send(seen)


@dataclass(kw_only=True, slots=True)
class _Seen:
    """What pytest came to."""

    code: int | None = None
    test: str = ""
    why: str = ""


class _Watch:
    """A plugin of pytest that notes the first failure."""

    def __init__(self, seen: _Seen) -> None:
        self.seen = seen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.seen.test:
            self.seen.test, self.seen.why = report.nodeid, first_line(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.seen.why = self.seen.why or first_line(report)


def first_line(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the first line of an error."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _judge(seen: _Seen, folder: Path) -> tuple[Ended, str]:
    """Return how an attempt ended, and why."""
    if seen.code is None or (seen.code != pytest.ExitCode.OK and not seen.test):
        last = (folder / "output").read_text(errors="replace").strip().splitlines()[-1:]
        return "error", seen.why or " ".join(last)
    return ("caught", seen.why) if seen.test else ("survived", "")
