"""The verb `bench`: what it runs, keeps, stores, compares and draws, on benchmarks made for it."""

from __future__ import annotations

import shutil
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

from harness.commands import bench as verb
from harness.errors import DataError, RunError, UsageError
from harness.measure import bench
from harness.measure.goals import load_baselines, read_document
from tests.checkout import ROOT

QUICK = """
import os
import statistics
import time
from pathlib import Path

def test_quick(goal):
    samples = []
    for _ in range(8):
        start = time.perf_counter()
        time.sleep(float(os.environ["WAIT_S"]))
        samples.append(time.perf_counter() - start)
    record = goal("quick", limit=1e-4, unit="s", direction="at_most")
    record(statistics.median(samples), samples=samples, note="made up")

def test_counted(goal):
    goal("counted", limit=2.0, unit="ratio", direction="at_least")(3.0, exact=True)
    given = goal.sampling(warmup_s=0.5, min_samples=60, budget_s=10.0)
    sizes = [goal.size(1000), goal.size(1000, tried=3), *given.values()]
    Path("told").write_text(" ".join(map(str, sizes)))
"""
OTHER = "def test_other(goal):\n    raise SystemExit\n"


QUIET = 1e9
"""Cores that others may take: tests beside this one do."""


def use(monkeypatch: pytest.MonkeyPatch, checkout: Path) -> Path:
    """Take a checkout as the source of benchmarks and as the workspace."""
    monkeypatch.setattr(verb, "SOURCE", checkout)
    monkeypatch.setattr(bench, "CROWDED_CORES", QUIET)
    monkeypatch.setenv("REPRO_ROOT", str(checkout))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("WAIT_S", "0.01")
    # What a benchmark starts must not think that it shares its tests.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return checkout


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with two benchmark files."""
    folder = tmp_path / "tests" / "benchmarks"
    folder.mkdir(parents=True)
    (folder / "bench_quick.py").write_text(QUICK, encoding="utf-8")
    (folder / "bench_other.py").write_text(OTHER, encoding="utf-8")
    (tmp_path / "results").mkdir()
    return use(monkeypatch, tmp_path)


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkout in which one benchmark was measured and stored."""

    root: Path
    shown: str

    def copy(self, target: Path) -> Path:
        return Path(shutil.copytree(self.root, target, dirs_exist_ok=True))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Measure once for all tests; do not change it."""
    root = tmp_path_factory.mktemp("saved")
    folder = root / "tests" / "benchmarks"
    folder.mkdir(parents=True)
    (folder / "bench_quick.py").write_text(QUICK, encoding="utf-8")
    (root / "results").mkdir()
    shown = root / "shown"
    with pytest.MonkeyPatch.context() as patch, shown.open("w") as file, redirect_stderr(file):
        use(patch, root)
        verb.bench(["quick"], save=True)
    return Saved(root, shown.read_text())


def kept_in(root: Path) -> Path:
    (kept,) = (root / "runs" / "benchmarks").glob("*.json")
    return kept


def test_a_run_is_kept_and_a_missed_goal_fails_nothing(measured: Saved) -> None:
    found = read_document(kept_in(measured.root)).measured()
    assert list(found) == ["counted", "quick"]
    assert (found["quick"].met, found["quick"].note, len(found["quick"].samples)) == (
        False, "made up", 8,
    )  # fmt: skip
    assert "1 of 2 goals met; missed: quick" in measured.shown
    assert "1 benchmarks, about" in measured.shown and "never stored" in measured.shown
    assert (measured.root / "told").read_text() == "1000 1000 0.5 60 10.0"


def test_what_became_slower_exits_1_and_what_did_not_does_not(
    measured: Saved,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = use(monkeypatch, measured.copy(tmp_path))
    (baseline,) = load_baselines(source)
    assert list(baseline.measured()) == ["counted", "quick"]
    # The margin bears what other tests take of the machine.
    verb.bench(["quick"], compare=True, fail=True, margin=2.0)
    monkeypatch.setenv("WAIT_S", "0.2")
    capfd.readouterr()
    prefix = source / "drawn"
    with pytest.raises(typer.Exit) as caught:
        verb.bench(["quick"], compare=True, fail=True, histogram=prefix)
    shown = capfd.readouterr()
    assert caught.value.exit_code == 1
    assert "slower than the baseline: quick" in shown.err
    assert "regression" in shown.out and "no change" in shown.out
    # Nothing tracked is stored.
    assert load_baselines(source) == [baseline]
    (drawn,) = source.glob("drawn-*.svg")
    assert "quick" in drawn.name and "<svg" in drawn.read_text(encoding="utf-8")


def test_a_torn_baseline_is_named_and_what_was_disturbed_is_not_stored(
    measured: Saved,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = use(monkeypatch, measured.copy(tmp_path))
    (path,) = (source / "results" / "benchmarks").glob("*.json")
    path.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=path.name):
        verb.bench(stored=True)
    path.unlink()
    monkeypatch.setattr(bench, "CROWDED_CORES", -1.0)
    capfd.readouterr()
    verb.bench(["quick"], save=True)
    shown = capfd.readouterr().err
    assert "quick is not stored: others kept" in shown
    assert list(load_baselines(source)[0].measured()) == ["counted"]


def test_what_is_tried_is_small_and_nothing_of_it_is_kept(source: Path) -> None:
    verb.bench(["quick"], tried=True)
    assert (source / "told").read_text() == "1 3 0.0 2 0.0"
    assert load_baselines(source) == [] and not (source / "runs").exists()


def test_what_no_longer_runs_is_seen_when_it_is_tried(source: Path) -> None:
    with pytest.raises(RunError, match="did not run to its end"):
        verb.bench(["other", "quick"], tried=True)
    with pytest.raises(UsageError, match="measures nothing"):
        verb.bench(["quick"], tried=True, compare=True)
    assert not (source / "runs").exists()


def test_without_a_baseline_there_is_nothing_to_compare_with(source: Path) -> None:
    assert source.exists()
    with pytest.raises(UsageError, match="repro bench --save"):
        verb.bench(["quick"], compare=True)
    assert not (source / "runs").exists()
    with pytest.raises(UsageError, match="add --compare"):
        verb.bench(["quick"], fail=True)
    with pytest.raises(UsageError, match="run nothing"):
        verb.bench(stored=True, compare=True)


def test_a_trend_goes_over_the_commits_that_stored_a_goal(tmp_path: Path) -> None:
    """In this checkout's own history, where the first results had a file of their own each."""
    target = tmp_path / "trend.svg"
    verb.bench(trend=target)
    assert "<svg" in target.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"no format is called 'nope'"):
        verb.bench(trend=tmp_path / "trend.nope")


def test_an_unknown_benchmark_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'cli_startup'"):
        bench.benchmark_files(ROOT, ["cli_startupp"])
