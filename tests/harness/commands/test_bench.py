"""The verb `bench` and the fixture `goal`: what is run, kept and stored, on benchmarks made up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.commands import bench as verb
from harness.errors import DataError, RunError, UsageError
from harness.measure import goals
from harness.measure.goals import FOLDER, load_baselines, read_baseline
from tests.checkout import ROOT

QUICK = """
import statistics
import time
from pathlib import Path

def test_quick(goal):
    samples = []
    for _ in range(8):
        start = time.perf_counter()
        time.sleep(0.001)
        samples.append(time.perf_counter() - start)
    record = goal("quick", limit=1e-4, unit="s", direction="at_most")
    record(statistics.median(samples), samples=samples, note="made up")

def test_counted(goal):
    record = goal("counted", limit=2.0, unit="ratio", direction="at_least")
    record(3.0, exact=True, seconds=[0.5, 0.25])
    given = goal.sampling(warmup_s=0.5, min_samples=60, budget_s=10.0)
    sizes = [goal.size(1000), goal.size(1000, tried=3), *given.values()]
    Path("told").write_text(" ".join(map(str, sizes)))
"""
OTHER = "def test_other(goal):\n    raise SystemExit\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with two benchmark files, which is the workspace, too."""
    folder = tmp_path / "tests" / "benchmarks"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "benchmarks" / "conftest.py", folder)
    (folder / "bench_quick.py").write_text(QUICK, encoding="utf-8")
    (folder / "bench_other.py").write_text(OTHER, encoding="utf-8")
    monkeypatch.setattr(verb, "SOURCE", tmp_path)
    # Tests beside this one take what they take.
    monkeypatch.setattr(goals, "CROWDED_CORES", 1e9)
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # What a benchmark starts must not think that it shares its tests.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return tmp_path


def test_a_run_is_kept_and_stored_and_a_missed_goal_fails_nothing(
    source: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    verb.bench(["quick"], save=True, as_json=True)
    shown = capfd.readouterr()
    (kept,) = (source / "runs" / "benchmarks").rglob("*.json")
    counted, quick = read_baseline(kept).measured()
    assert (quick.name, quick.met, quick.note, len(quick.samples)) == ("quick", False, "made up", 8)
    assert counted.exact and counted.met
    rows = {row["name"]: row for row in json.loads(shown.out)}
    assert rows["quick"]["goal"] == "at most 0.0001" and not rows["quick"]["met"]
    assert "1 of 2 goals met; missed: quick" in shown.err
    assert "1 benchmarks, about" in shown.err and "never stored" in shown.err
    assert (source / "told").read_text() == "1000 1000 0.5 60 10.0"

    # pytest-benchmark has the seconds that were given, else the samples.
    (stored,) = load_baselines(source)
    data = {e["name"]: e["stats"]["data"] for e in stored.model_dump()["benchmarks"]}
    assert data["counted"] == pytest.approx([0.5, 0.25])
    assert data["quick"] == pytest.approx(quick.samples)
    verb.bench(stored=True)
    assert "quick" in capfd.readouterr().out
    (path,) = (source / FOLDER).iterdir()
    path.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=path.name):
        verb.bench(stored=True)


def test_what_is_tried_is_small_and_nothing_of_it_is_kept(source: Path) -> None:
    verb.bench(["quick"], tried=True)
    assert (source / "told").read_text() == "1 3 0.0 2 0.0"
    assert load_baselines(source) == [] and not (source / "runs").exists()


def test_what_no_longer_runs_is_an_error(source: Path) -> None:
    with pytest.raises(RunError, match="did not run to its end"):
        verb.bench(["other"], tried=True)
    assert not (source / "runs").exists()
    with pytest.raises(RunError, match="other"):
        verb.bench(["other"])


def test_options_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        verb.bench(stored=True, save=True)


def test_an_unknown_benchmark_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'cli_startup'"):
        verb.benchmark_files(ROOT, ["cli_startupp"])
