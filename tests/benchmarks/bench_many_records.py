"""What reads records must do so at 100,000 of them: within seconds, in bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.store.trial import MAX_TRIALS
from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SOURCE, SweepWorkspace

FEWER = 10
"""What a record costs is told by a sweep that is so much smaller."""
LIMITS = {
    "list": (0.5, 200.0),
    "status --profile cpu": (2.0, 2000.0),
    "check --profile cpu": (5.0, 2000.0),
    "report": (30.0, 2000.0),
    "check --profile cpu --deep": (6.0, 2000.0),
}
"""Seconds, and MB of main memory. The last reads a million rows a minute."""
MAKE = """
import sys
from pathlib import Path
from bench_papers.sweep.empty.abl_empty import empty, task
from harness.declare.experiment import Status
from harness.registry import load_registry
from harness.store.record import make_record
from harness.store.result import build_result, write_result
from harness.store.store import RecordStore
from harness.store.trial import grid_of
from harness.store.workspace import Workspace

workspace = Workspace(Path(sys.argv[1]))
task = load_registry({"sweep"}).tasks["sweep/abl_empty"]
(empty,) = task.reads
# A record of ours takes 4 kB.
facts = {"commit": "c0ffee", "dirty": False, "machine": {}, "overrides": {}, "code": "",
         "versions": {f"package_{n}": f"{n}.0.0" for n in range(140)}, "registered": {}}
records = {
    trial.key: make_record(trial, facts, status=Status.DONE, started_at="2026-01-01T00:00:00+00:00",
                           rows=[{"value": float(trial.params["seed"])}])
    for trial in grid_of(empty, "cpu")
}
RecordStore(workspace).pack_records(empty.id, "cpu", list(records.values()))
result = build_result(task, "cpu", lambda trial: records.get(trial.key))
write_result(workspace, task, result)
"""


WATCHED = r"""
import atexit, re, sys
from pathlib import Path
from harness.cli import main

def tell(file=sys.argv.pop(1)):
    status = Path("/proc/self/status").read_text()
    Path(file).write_text(re.search(r"VmHWM:\s+(\d+) kB", status)[1])

atexit.register(tell)
main()
"""


class Cost(NamedTuple):
    """What a command took."""

    seconds: float
    peak_mb: float
    """The most main memory that its own process held."""


Costs = Callable[[str, int], Cost]


@pytest.fixture(scope="module")
def cost_of(tmp_path_factory: pytest.TempPathFactory) -> Costs:
    """Return what tells a command's cost over so many records, measured once."""
    sweep = SweepWorkspace(tmp_path_factory.mktemp("many")).install()
    path = [sweep.folder / "site", Path(__file__).parent, SOURCE]

    @cache
    def cost(words: str, count: int) -> Cost:
        root, peak = sweep.folder / f"root-{count}", sweep.folder / "peak"
        env = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, path)), "REPRO_ROOT": str(root),
            "BENCH_TRIALS": str(count),
        }  # fmt: skip
        if not root.exists():
            root.mkdir()
            subprocess.run([sys.executable, "-c", MAKE, str(root)], env=env, check=True)
        start = time.perf_counter()
        asked = [sys.executable, "-c", WATCHED, str(peak), *words.split()]
        done = subprocess.run(asked, env=env, capture_output=True, text=True)
        seconds = time.perf_counter() - start
        assert done.returncode == 0, done.stderr
        return Cost(seconds, int(peak.read_text()) / 1024)

    return cost


@pytest.mark.parametrize("unit", ["s", "MB"])
@pytest.mark.parametrize("words", LIMITS)
def test_verbs_answer_over_many_records(
    goal: GoalFixture, cost_of: Costs, words: str, unit: str
) -> None:
    count, is_time = goal.size(MAX_TRIALS, tried=30), unit == "s"
    large, small = (cost_of(words, each)[not is_time] for each in (count, count // FEWER))
    slope, each = 1000 * (large - small) / (count - count // FEWER), "ms" if is_time else "kB"
    name = "many_" + words.replace(" --profile cpu", "").replace(" --", "_")
    goal(
        name if is_time else f"{name}_memory",
        limit=LIMITS[words][not is_time], unit=unit, direction="at_most",
    )(
        large, exact=not is_time,
        note=f"{count:,} records of 4 kB; {count // FEWER:,}: {small:.3g} {unit};"
        f" {max(slope, 0.0):.2g} {each} a record",
    )  # fmt: skip
