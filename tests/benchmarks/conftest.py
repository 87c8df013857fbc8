"""The `goal` fixture: a benchmark declares what it must reach and hands in what it measured."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.measure.bench import Direction, Goal, make_result, store_result
from harness.measure.contention import OthersWatch
from harness.measure.machine import load_average
from harness.store.workspace import find_workspace
from tests.benchmarks.goals import GoalFixture, Record


@pytest.fixture
def goal(request: pytest.FixtureRequest) -> GoalFixture:
    """Return `goal(name, limit=..., unit=..., direction=...)(measured, samples=..., note=...)`.

    The load average is taken before the benchmark starts, and what others took of the machine
    from then to the moment of recording. The result is written to
    `results/benchmarks/<name>.json`; a missed goal is printed, never a failure.
    """
    load, watch = load_average(), OthersWatch()

    def declare(name: str, *, limit: float, unit: str, direction: Direction) -> Record:
        aim = Goal(limit=float(limit), unit=unit, direction=direction)

        def record(measured: float, *, samples: Sequence[float] = (), note: str = "") -> None:
            result = make_result(
                name,
                aim,
                measured,
                samples=samples,
                note=note,
                load_average=load,
                other_cores=watch.cores(),
            )
            store_result(find_workspace().root, result)
            word = "met" if result.met else "missed"
            reporter = request.config.pluginmanager.get_plugin("terminalreporter")
            if reporter is not None:
                bound = direction.replace("_", " ")
                text = f"{name}: {measured:.4g} {unit} ({bound} {limit:g}: {word})"
                reporter.write_line(f"\n{text}")

        return record

    return declare
