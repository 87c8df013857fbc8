"""What a smoke run took, kept beside a paper: plans of those who never ran it tell it."""

from __future__ import annotations

import json

import pytest

from harness.commands.common import time_told
from harness.measure.machine import num_cores
from harness.run.kept_seconds import FILE
from tests.harness.conftest import Cli
from tests.harness.toy_paper import ToyPaper

KEPT = """
commit = "0123456789ab"
cpu = "some CPU"
start_s = 0.5
task_s = 6.0
run_s = 1.0
worker_s = 2.0

[seconds]
squares = 3.0
"""
DECLARED = "estimate=lambda point: Estimate(seconds=10.0 * (1 + point.x)),"
VARIANT = ("--set", "x=9", "--seeds", "1")


@pytest.fixture
def keeping(toy: ToyPaper) -> ToyPaper:
    """Return the toy paper with the seconds of a run beside it."""
    (toy.folder / FILE).write_text(KEPT)
    return toy


def seconds(cli: Cli, *words: str) -> list[float]:
    return [row["seconds"] for row in json.loads(cli("plan", "toylab", "--json", *words).out)]


def declare_estimate(toy: ToyPaper, declared: str = DECLARED) -> None:
    text = toy.experiment.read_text().replace("needs=needs,", f"needs=needs, {declared}")
    toy.experiment.write_text(text.replace("import Experiment,", "import Estimate, Experiment,"))


def test_what_declares_nothing_takes_the_mean_that_is_kept(keeping: ToyPaper, cli: Cli) -> None:
    assert seconds(cli) == [3.0] * 12
    # Of another scale it says nothing.
    assert seconds(cli, "--profile", "cpu") == [0.0] * 12


def test_trials_share_what_their_run_took_as_their_author_says(keeping: ToyPaper, cli: Cli) -> None:
    declare_estimate(keeping)
    told = seconds(cli)
    assert sum(told) == pytest.approx(12 * 3.0)
    assert told[:4] == pytest.approx([1.2, 2.4, 3.6, 4.8])
    assert seconds(cli, *VARIANT) == pytest.approx([12.0])
    assert seconds(cli, "--profile", "cpu", *VARIANT) == [100.0]


def test_records_that_are_here_tell_it_better(keeping: ToyPaper, cli: Cli) -> None:
    assert cli("run", "toylab", "--executor", "inline").code == 0
    assert all(each < 3.0 for each in seconds(cli))


@pytest.mark.parametrize(
    ("old", "new"), [("3.0", '"long"'), ("some CPU", ""), ("[seconds]", "[second]"), ("=", "")]
)
def test_a_file_that_no_tool_wrote_is_one_sentence(
    keeping: ToyPaper, cli: Cli, old: str, new: str
) -> None:
    (keeping.folder / FILE).write_text(KEPT.replace(old, new))
    done = cli("plan", "toylab")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done
    assert FILE in done.err and "python -m tools.keep_seconds" in done.err


def test_a_run_says_how_long_it_takes_here(keeping: ToyPaper, cli: Cli) -> None:
    done = cli("run", "toylab", "--executor", "inline")
    # 36 s of trials, 6 s of the one task's table, verdicts and figure, and 3 s of starts.
    assert "12 trials to run, 0 reused or blocked, about 45.0 core-s, 45.0 s here" in done.err
    # The table is made anew where nothing is to run, and no worker starts.
    again = cli("run", "toylab", "--executor", "inline")
    assert "0 trials to run, 12 reused or blocked, about 7.0 core-s, 7.0 s here" in again.err


def test_processes_share_what_is_not_exclusive(keeping: ToyPaper, cli: Cli) -> None:
    keeping.experiment.write_text(
        keeping.experiment.read_text().replace(
            "return Needs(", "return Needs(exclusive=point.x == 0, "
        )
    )
    done = cli("run", "toylab", "--jobs", "2", TOY_COUNT="40")
    # 120 trials of 3 s; of the three that are exclusive none shares.
    assert "about 6.2 core-min, 3.2 min here" in done.err, done.err


def test_tables_are_made_by_one_process_alone(keeping: ToyPaper, cli: Cli) -> None:
    (keeping.folder / FILE).write_text(KEPT.replace("task_s = 6.0", "task_s = 60.0"))
    done = cli("run", "toylab", "--jobs", "2")
    assert "about 1.7 core-min, 1.1 min here" in done.err, done.err


def test_workers_start_side_by_side(keeping: ToyPaper, cli: Cli) -> None:
    done = cli("run", "toylab", "--jobs", "2")
    # Half of 42 s, and one start of a worker; both keep a core busy.
    assert "about 47.0 core-s, 24.0 s here" in done.err, done.err


def test_a_plan_says_it_too(keeping: ToyPaper, cli: Cli) -> None:
    told = cli("plan", "toylab").err
    assert "about 36.0 core-s of trials to run" in told
    cores = min(num_cores(), 12)
    assert f"with starts, tables and figures: {time_told(43.0 + 2.0 * cores, 'core-')}" in told


def test_a_paper_that_keeps_nothing_starts_as_one_beside_it(keeping: ToyPaper, cli: Cli) -> None:
    beside = keeping.folder.parent / "beside"
    beside.mkdir()
    (keeping.folder / FILE).rename(beside / FILE)
    done = cli("run", "toylab", "--executor", "inline")
    assert "about 3.0 core-s, 3.0 s here" in done.err, done.err
