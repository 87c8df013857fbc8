"""What reads records must do so at 100,000 of them: within seconds, in bounded memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SOURCE, SweepWorkspace

NUM_RECORDS = 100_000
LIMITS_S = {
    "list": 0.5,
    "status --profile cpu": 2.0,
    "check --profile cpu": 5.0,
    "report": 30.0,
    "check --profile cpu --deep": 6.0,
}
"""The last reads a million rows a minute."""
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
facts = {"commit": "c0ffee", "dirty": False, "machine": {}, "versions": {}, "overrides": {},
         "code": "", "registered": {}}
records = {
    trial.key: make_record(trial, facts, status=Status.DONE, started_at="2026-01-01T00:00:00+00:00",
                           rows=[{"value": float(trial.params["seed"])}])
    for trial in grid_of(empty, "cpu")
}
RecordStore(workspace).pack_records(empty.id, "cpu", list(records.values()))
result = build_result(task, "cpu", lambda trial: records.get(trial.key))
write_result(workspace, task, result)
"""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> SweepWorkspace:
    return SweepWorkspace(tmp_path_factory.mktemp("many")).install()


@pytest.mark.parametrize("words", LIMITS_S)
def test_verbs_answer_over_many_records(
    goal: GoalFixture, sweep: SweepWorkspace, words: str
) -> None:
    count = goal.size(NUM_RECORDS, tried=30)
    root = sweep.folder / "root"
    path = [sweep.folder / "site", Path(__file__).parent, SOURCE]
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, path)), "REPRO_ROOT": str(root),
        "BENCH_TRIALS": str(count),
    }  # fmt: skip
    if not root.exists():
        root.mkdir()
        subprocess.run([sys.executable, "-c", MAKE, str(root)], env=env, check=True)
    start = time.perf_counter()
    asked = [sys.executable, "-m", "harness.cli", *words.split()]
    done = subprocess.run(asked, env=env, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    assert done.returncode == 0, done.stderr
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    name = "many_" + words.replace(" --profile cpu", "").replace(" --", "_")
    goal(name, limit=LIMITS_S[words], unit="s", direction="at_most")(
        seconds, note=f"{count:,} records; the largest process so far took {peak_mb:,.0f} MB"
    )
