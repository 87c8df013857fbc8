"""The `goal` fixture: a benchmark says what it must reach, and what it found.

Beside it what a run of benchmarks needs: the setting of its processes, the table at its end, and
`--save-goals`.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from pytest_benchmark.utils import safe_dumps

from harness.measure.contention import OthersWatch
from harness.measure.machine import load_average, machine_facts
from tests.benchmarks.goals import (
    Baseline,
    Goal,
    Measured,
    goals_table,
    load_baselines,
    save_baseline,
)

_SECONDS = {"s": 1.0, "ms": 1e-3}
"""Units of time, in seconds."""
FOUND = pytest.StashKey[list[Measured]]()
"""What a run has measured so far."""


class Replay:
    """A clock that goes on by durations that were measured before.

    Benchmarks time two things in turn, or in processes of their own; pytest-benchmark, which
    times one function, is given what they found.
    """

    now_s = 0.0

    def read(self) -> float:
        return self.now_s

    def go_on(self, by_s: float) -> None:
        self.now_s += by_s


_clock = Replay()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--save-goals",
        action="store_true",
        help="store what --benchmark-autosave keeps as this kind of machine's baseline, too",
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Set what processes read when they start; name a damaged baseline before all is measured.

    Nobody calls this in a run of all tests, which comes upon this file later.
    """
    # Read once, before torch is imported: without it two busy processes slow each other.
    os.environ |= {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    # Where nothing may be kept, each start would compile all modules, which is no user's start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if session.config.getoption("--save-goals"):
        load_baselines(session.config.rootpath)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each benchmark with a goal the clock that replays."""
    for item in items:
        if "goal" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.benchmark(timer=_clock.read))


@pytest.hookimpl(tryfirst=True)
def pytest_benchmark_generate_machine_info() -> dict[str, Any]:
    """Say what records say of a machine; the plugin itself would name the host."""
    facts = machine_facts()
    return {name: facts[name] for name in facts if name not in ("load_average", "commit", "dirty")}


@pytest.hookimpl(tryfirst=True)
def pytest_benchmark_generate_commit_info() -> dict[str, Any]:
    """Say which commit was measured; the plugin itself would name branch and folder."""
    facts = machine_facts()
    return {"id": facts["commit"], "dirty": facts["dirty"], "time": _now()}


def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    """Store what is about to be kept as a baseline, where asked to."""
    if config.getoption("--save-goals"):
        found = Baseline.model_validate_json(safe_dumps(output_json))
        save_baseline(config.rootpath, found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """End with a table of goals, met or not."""
    if found := terminalreporter.config.stash.get(FOUND, []):
        terminalreporter.section("goals")
        for line in goals_table(found):
            terminalreporter.write_line(line)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


class GoalFixture:
    """Declares a goal and returns what records its measured value."""

    def __init__(self, benchmark: BenchmarkFixture, found: list[Measured]) -> None:
        """found: takes what is measured."""
        self.benchmark, self.found = benchmark, found
        self.load, self.start_s = load_average(), time.perf_counter()
        self.watch = OthersWatch()

    def __call__(self, name: str, **goal: Any) -> Callable[..., None]:
        """Return what takes the value that was measured under a goal, see `record`."""
        return partial(self.record, name, Goal(**goal))

    def record(
        self,
        name: str,
        goal: Goal,
        measured: float,
        *,
        samples: Sequence[float] = (),
        seconds: Sequence[float] = (),
        note: str = "",
        exact: bool = False,
        from_records: bool = False,
        other_cores: float | None = None,
    ) -> None:
        """Store a value, and what it was made of.

        seconds: how long what the benchmark is about took, each time; where it is not given, the
        samples if they are times, else the time of the whole benchmark. other_cores: where the
        benchmark measured itself what others took.
        """
        facts = machine_facts()
        wall_s = time.perf_counter() - self.start_s
        found = Measured(
            name=name, goal=goal, measured=float(measured), samples=list(samples),
            exact=exact, from_records=from_records, note=note, wall_s=round(wall_s, 2),
            load_average=self.load,
            other_cores=self.watch.cores() if other_cores is None else other_cores,
            versions={"python": facts["python"], **facts["versions"]},
            commit=facts["commit"], dirty=facts["dirty"], date=_now(),
        )  # fmt: skip
        unit_s = _SECONDS.get(goal.unit)
        timed = [] if unit_s is None else [unit_s * sample for sample in samples]
        replayed = list(seconds) or timed or [wall_s]
        left = iter(replayed)
        # What a test is given may not be data; the goal's name tells them apart.
        self.benchmark.name, self.benchmark.param, self.benchmark.params = name, None, None
        self.benchmark.pedantic(lambda: _clock.go_on(next(left)), rounds=len(replayed))
        self.benchmark.extra_info.update(found.model_dump(mode="json"))
        if not self.tried:
            self.found.append(found)

    @property
    def tried(self) -> bool:
        """Whether the benchmark is only tried: nothing is judged or kept."""
        return bool(self.benchmark.disabled)

    def size(self, measured: int, *, tried: int = 1) -> int:
        """Return how many of something there are: as many as show that it works, where tried."""
        return tried if self.tried else measured

    def sampling(self, *, warmup_s: float, min_samples: int, budget_s: float) -> dict[str, Any]:
        """Return what `measure_interleaved` takes: the fewest samples that it can, where tried."""
        if self.tried:
            warmup_s, min_samples, budget_s = 0.0, 2, 0.0
        return {"warmup_s": warmup_s, "min_samples": min_samples, "budget_s": budget_s}


@pytest.fixture
def goal(request: pytest.FixtureRequest, benchmark: BenchmarkFixture) -> GoalFixture:
    """Return `goal(name, limit=..., unit=..., direction=...)(measured, samples=..., note=...)`.

    What others took of the machine is measured from the fixture to the moment of recording. A
    missed goal is no failure.
    """
    return GoalFixture(benchmark, request.config.stash.setdefault(FOUND, []))
