"""Performance goals: what is stored, what is refused when read, and a benchmark run for real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from harness.errors import DataError, EnvError, UsageError
from harness.measure.bench import (
    Goal,
    benchmark_files,
    benchmarks_folder,
    goal_rows,
    load_benchmarks,
    make_result,
    run_benchmarks,
    store_result,
    summarise,
)
from tests.checkout import ROOT

SOURCE = ROOT
AT_MOST = Goal(limit=2.0, unit="s", direction="at_most")
AT_LEAST = Goal(limit=1.65, unit="ratio", direction="at_least")


@pytest.mark.parametrize(
    ("goal", "measured", "met"),
    [
        (AT_MOST, 1.9, True),
        (AT_MOST, 2.0, True),
        (AT_MOST, 2.1, False),
        (AT_LEAST, 1.7, True),
        (AT_LEAST, 1.65, True),
        (AT_LEAST, 1.6, False),
    ],
)
def test_a_goal_is_met_on_its_own_side_of_the_limit(goal: Goal, measured: float, met: bool) -> None:
    result = make_result("some_goal", goal, measured, load_average=0.5)
    assert result.met is met


def test_a_stored_result_reads_back_whole(tmp_path: Path) -> None:
    result = make_result(
        "some_goal", AT_MOST, 1.5, samples=[3.0, 1.0, 1.5], note="n", load_average=None
    )
    path = store_result(tmp_path, result)
    assert path == tmp_path / "results" / "benchmarks" / "some_goal.json"
    assert load_benchmarks(tmp_path) == [result]
    assert result.machine["versions"]["torch"] == torch.__version__
    assert result.samples is not None
    assert (result.samples.count, result.samples.min, result.samples.median) == (3, 1.0, 1.5)


def test_no_folder_is_no_result(tmp_path: Path) -> None:
    assert load_benchmarks(tmp_path) == []


def test_a_single_sample_is_its_own_summary() -> None:
    summary = summarise([7.0])
    assert summary is not None
    assert {summary.min, summary.p20, summary.median, summary.p80, summary.max} == {7.0}
    assert summarise([]) is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"met": False}, "contradicts"),
        ({"measured": "1.5"}, "measured"),
        ({"extra": 1}, "extra"),
        ({"schema_version": 2}, "schema_version"),
        ({"name": "other_goal"}, "rename it"),
    ],
)
def test_an_edited_result_is_refused_by_name(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    path = store_result(tmp_path, make_result("some_goal", AT_MOST, 1.5, load_average=0.0))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}), encoding="utf-8")
    with pytest.raises(DataError, match=told) as caught:
        load_benchmarks(tmp_path)
    assert path.name in str(caught.value)


def test_a_torn_result_is_refused_by_name(tmp_path: Path) -> None:
    path = store_result(tmp_path, make_result("some_goal", AT_MOST, 1.5, load_average=0.0))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match=r"some_goal\.json"):
        load_benchmarks(tmp_path)


def test_every_committed_result_is_valid() -> None:
    committed = sorted(benchmarks_folder(SOURCE).glob("*.json"))
    assert [result.name for result in load_benchmarks(SOURCE)] == [p.stem for p in committed]


def test_benchmarks_are_found_by_name_and_pattern() -> None:
    every = benchmark_files(SOURCE, [])
    assert len(every) == len(list((SOURCE / "tests" / "benchmarks").glob("bench_*.py"))) > 3
    (startup,) = benchmark_files(SOURCE, ["cli_startup"])
    assert startup.name == "bench_cli_startup.py"
    assert startup in benchmark_files(SOURCE, ["cli_*"])


def test_an_unknown_benchmark_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'cli_startup'"):
        benchmark_files(SOURCE, ["cli_startupp"])


def test_an_install_without_benchmarks_says_so(tmp_path: Path) -> None:
    with pytest.raises(EnvError, match="source checkout"):
        benchmark_files(tmp_path, [])


def test_rows_stand_beside_what_was_measured_before() -> None:
    before = [make_result("a", AT_MOST, 1.0, load_average=0.0)]
    after = [
        make_result("a", AT_MOST, 2.5, load_average=0.0),
        make_result("b", AT_LEAST, 2.0, load_average=0.0),
    ]
    rows = [
        (row["name"], row["before"], row["measured"], row["met"])
        for row in goal_rows(before, after)
    ]
    assert rows == [("a", 1.0, 2.5, False), ("b", None, 2.0, True)]


BENCHMARK = """
from tests.benchmarks.conftest import goal

def test_missed(goal, benchmark):
    benchmark.pedantic(lambda: None, rounds=3)
    record = goal("quick_missed", limit=1.0, unit="s", direction="at_most")
    record(2.0, samples=[2.0, 3.0], note="made up")

def test_met(goal):
    goal("quick_met", limit=1.0, unit="s", direction="at_most")(0.5)
"""


@pytest.fixture(autouse=True)
def _not_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide from the pytest that a benchmark starts that this one may share its tests."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)


def test_a_missed_goal_is_stored_and_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tests" / "benchmarks" / "bench_quick.py"
    file.parent.mkdir(parents=True)
    file.write_text(BENCHMARK, encoding="utf-8")
    (tmp_path / "results").mkdir()
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    assert run_benchmarks(tmp_path, benchmark_files(tmp_path, ["quick"]), compare=False) == 0
    met, missed = load_benchmarks(tmp_path)
    assert (met.name, met.met, met.samples) == ("quick_met", True, None)
    assert (missed.name, missed.met, missed.note) == ("quick_missed", False, "made up")
    assert list((tmp_path / ".benchmarks").rglob("0001_*.json"))


def test_compare_shows_the_run_before_and_runs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "tests" / "benchmarks"
    folder.mkdir(parents=True)
    one = "def test_one(benchmark):\n    benchmark.pedantic(lambda: None, rounds=3)\n"
    (folder / "bench_one.py").write_text(one, encoding="utf-8")
    (folder / "bench_other.py").write_text("def test_other():\n    raise SystemExit\n")
    files = benchmark_files(tmp_path, ["one"])
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    assert run_benchmarks(tmp_path, files, compare=True) == 0  # nothing to compare with yet
    assert run_benchmarks(tmp_path, files, compare=True) == 0
    shown = capfd.readouterr().err
    assert "test_one (NOW)" in shown
    assert "test_one (0001_" in shown
