"""Goals, baselines and runs of benchmarks: what is stored, shown, and refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.goals import (
    FOLDER,
    Baseline,
    Goal,
    Measured,
    goals_page,
    goals_table,
    load_baselines,
    save_baseline,
)
from tests.checkout import ROOT

AT_MOST = Goal(limit=0.5, unit="s", direction="at_most")
AT_LEAST = Goal(limit=1.65, unit="ratio", direction="at_least")
MACHINE: dict[str, Any] = {
    "cpu": "Some CPU", "cpu_id": "Maker family 1 model 2 stepping 3", "isa": "avx2",
    "num_cores": 2, "gpus": [],
}  # fmt: skip
KIND = "some-cpu-family-1-model-2-avx2-2-cores"


def goal_of(name: str, measured: float, **told: Any) -> Measured:
    """Return what a benchmark found."""
    fields: dict[str, Any] = {
        "goal": AT_MOST, "samples": [], "exact": False, "from_records": False, "note": "",
        "wall_s": 30.0, "load_average": 0.0, "other_cores": 0.0, "versions": {},
        "commit": "unknown", "dirty": False, "date": "2025-01-01T00:00:00+00:00",
    }  # fmt: skip
    return Measured(name=name, measured=measured, **{**fields, **told})


def baseline_of(*goals: Measured, machine: dict[str, Any] = MACHINE) -> Baseline:
    """Return what pytest-benchmark would write."""
    entries = [{"name": goal.name, "extra_info": goal.model_dump(mode="json")} for goal in goals]
    return Baseline.model_validate({"machine_info": machine, "benchmarks": entries})


@pytest.mark.parametrize(
    ("goal", "measured", "met"),
    [
        (AT_MOST, 0.5, True),
        (AT_MOST, 0.51, False),
        (AT_LEAST, 1.65, True),
        (AT_LEAST, 1.6, False),
    ],
)
def test_a_goal_is_met_on_its_own_side_of_the_limit(goal: Goal, measured: float, met: bool) -> None:
    assert goal_of("some_goal", measured, goal=goal).met is met


def test_a_later_run_renews_what_it_measured_on_free_cores_or_counted(tmp_path: Path) -> None:
    save_baseline(tmp_path, baseline_of(goal_of("b", 1.5, samples=[3.0, 1.0]), goal_of("a", 1.0)))
    disturbed = goal_of("a", 2.0, other_cores=0.3)
    counted = goal_of("c", 2.0, other_cores=0.3, exact=True)
    save_baseline(tmp_path, baseline_of(counted, disturbed, goal_of("b", 2.0)))
    (baseline,) = load_baselines(tmp_path)
    assert (baseline.kind, baseline.title) == (KIND, "Some CPU (family 1 model 2), avx2, 2 cores")
    assert {i.name: i.measured for i in baseline.measured()} == {"a": 1.0, "b": 2.0, "c": 2.0}
    assert (tmp_path / FOLDER / "README.md").read_text() == goals_page([baseline])


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"measured": 1.5', '"measured": "1.5"', "measured"),
        ('"schema_version": 2', '"schema_version": 1', "schema_version"),
        ("}", "", "JSON"),
    ],
)
def test_an_edited_or_torn_baseline_is_refused_by_file(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    save_baseline(tmp_path, baseline_of(goal_of("some_goal", 1.5)))
    path = tmp_path / FOLDER / f"{KIND}.json"
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(pytest.UsageError, match=rf"{KIND}.json.*{told}"):
        load_baselines(tmp_path)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"cpu_id": "Maker family 1 model 2 stepping 4"}, True),
        ({"memory_bytes": 1}, True),
        ({"cpu_id": "Maker family 1 model 3 stepping 3"}, False),
        ({"isa": "avx512"}, False),
        ({"num_cores": 4}, False),
        ({"gpus": [{"name": "Some GPU"}]}, False),
    ],
)
def test_a_kind_of_machine_is_what_times_depend_on(change: dict[str, Any], same: bool) -> None:
    other = baseline_of(goal_of("a", 1.0), machine={**MACHINE, **change})
    assert (other.kind == KIND) is same


def test_committed_baselines_name_no_host_and_their_page_is_made_from_them() -> None:
    baselines = load_baselines(ROOT)
    for baseline in baselines:
        path = ROOT / FOLDER / f"{baseline.kind}.json"
        assert not set(baseline.machine_info) & {"node", "release"}
        assert str(ROOT) not in path.read_text()
    assert (ROOT / FOLDER / "README.md").read_text() == goals_page(baselines)


def test_the_page_shows_goals_met_or_not_by_machine_and_sums_apart() -> None:
    goals = [goal_of("list", 0.4), goal_of("plan", 0.7), goal_of("sum", 0.3, from_records=True)]
    measured, added = goals_page([baseline_of(*goals)]).split("Added up from committed records")
    assert "On Some CPU (family 1 model 2), avx2, 2 cores 2 of 3 goals are met." in measured
    table = measured.partition("Measured on Some CPU (family 1 model 2), avx2, 2 cores:")[2]
    assert "| list | at most 0.5 s | 0.4 s | yes" in table and "| 0.7 s | no" in table
    assert "| sum |" in added and "| sum |" not in measured


BENCHMARK = """
import os

def test_quick(goal):
    assert (os.environ["OMP_WAIT_POLICY"], os.environ["OMP_NUM_THREADS"]) == ("passive", "1")
    record = goal("quick", limit=1e-4, unit="s", direction="at_most")
    record(0.002, samples=[0.001, 0.003], note="made up", other_cores=0.0)

def test_busy(goal):
    goal("busy", limit=1.0, unit="s", direction="at_most")(0.5, other_cores=1.5)

def test_counted(goal):
    given = goal.sampling(warmup_s=0.5, min_samples=60, budget_s=10.0)
    print("sizes", goal.size(1000), goal.size(1000, tried=3), *given.values())
    record = goal("counted", limit=2.0, unit="ratio", direction="at_least")
    record(3.0, exact=True, seconds=[0.5, 0.25])
"""
KEEPING = ("--benchmark-autosave", "--benchmark-save-data", "--benchmark-storage=runs/benchmarks")


def ran(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run made-up benchmarks in a checkout of their own."""
    (folder / "pytest.ini").touch()
    (folder / "bench_quick.py").write_text(BENCHMARK)
    # What a benchmark starts must not think that it shares its tests.
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
    words = [sys.executable, "-m", "pytest", "-p", "tests.benchmarks.conftest", "bench_quick.py"]
    return subprocess.run(
        [*words, "-qs", "--benchmark-quiet", *options], cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_run_ends_with_its_goals_and_is_kept_and_stored(tmp_path: Path) -> None:
    done = ran(tmp_path, *KEEPING, "--save-goals")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sizes 1000 1000 0.5 60 10.0" in done.stdout
    told = [line.split() for line in done.stdout.splitlines()]
    assert ["quick", "0.002", "at", "most", "0.0001", "s", "no", "0"] in told
    assert ["busy", "0.5", "at", "most", "1", "s", "busy", "1.5"] in told
    assert "1 of 2 goals met\nbusy: others took over" in done.stdout

    # pytest-benchmark has the seconds that were given, else the samples.
    (stored,) = load_baselines(tmp_path)
    data = {e["name"]: e["stats"]["data"] for e in stored.model_dump()["benchmarks"]}
    assert data == {
        "counted": pytest.approx([0.5, 0.25]),
        "quick": pytest.approx([0.001, 0.003]),
    }
    (kept,) = (tmp_path / "runs" / "benchmarks").rglob("*.json")
    assert '"busy"' in kept.read_text()

    (tmp_path / FOLDER / f"{stored.kind}.json").write_text("{")
    refused = ran(tmp_path, "--save-goals")
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert "sizes" not in refused.stdout and "Traceback" not in refused.stderr
    assert refused.stderr.count(f"{stored.kind}.json is no file of benchmarks") == 1


def test_what_is_tried_is_small_and_nothing_of_it_is_kept_or_judged(tmp_path: Path) -> None:
    done = ran(tmp_path, "--save-goals", "--benchmark-disable")
    assert done.returncode == 0 and "sizes 1 3 0.0 2 0.0" in done.stdout
    assert "goals met" not in done.stdout
    assert not (tmp_path / "runs").exists() and load_baselines(tmp_path) == []


def test_the_table_fits_a_terminal() -> None:
    widest = goal_of("two_process_throughput_x", 1234.5678, goal=AT_LEAST, other_cores=0.1234)
    lines = goals_table([widest, goal_of("a", 1.0, other_cores=0.3)])
    assert max(map(len, lines)) <= 80 and "at least 1.65" in lines[1]


def test_make_takes_names_and_patterns_and_tells_a_wrong_one() -> None:
    def asked(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", "-n", "bench", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )

    files = "tests/benchmarks/bench_fg2u_memory.py tests/benchmarks/bench_masked_step.py --"
    assert files in asked("ONLY=masked_step *_memory").stdout
    refused = asked("ONLY=masked_step maskedstep")
    assert refused.returncode == 2 and "bench_" not in refused.stdout
    assert "no benchmark matches maskedstep: use some of cli_startup" in refused.stderr
