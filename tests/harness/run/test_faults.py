"""Every fault a user can meet: one clear sentence, nothing lost, nothing half-written."""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from harness.publish import refresh
from tests.harness import forked
from tests.harness.conftest import Cli
from tests.harness.inline_lab import tree
from tests.harness.processes import assert_gone, descendants
from tests.harness.small_disk import SmallDisk, needs_mount
from tests.harness.toy_paper import ToyPaper
from tests.waiting import wait_for

RUN = ("run", "toylab/tab01", "--jobs", "2")
INLINE = ("run", "toylab/tab01", "--executor", "inline")
CPU = ("--profile", "cpu")


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def assert_one_sentence(err: str) -> None:
    """Check that stderr is one line of `repro`, without a traceback."""
    lines = err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("repro: "), err


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# Runs in real processes


def test_two_runs_at_once_do_each_trial_once(toy: ToyPaper, cli: Cli, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    settings = {"TOY_GATE": str(gate), "TOY_MS": "20", "TOY_COUNT": "8", "TOY_SEEDS": "5"}
    runs = [forked.start(toy, *RUN, **settings) for _ in range(2)]
    # Until the gate opens, two workers of each run hold a trial: the runs do overlap.
    wait_for(lambda: len({event["pid"] for event in toy.events()}) == 4)
    gate.touch()
    ends = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], ends
    assert len(toy.starts()) == len(set(toy.starts())) == 40
    assert len(toy.csv().read_text().splitlines()) == 41
    done = cli("check", "toylab/tab01", "--profile", "smoke", "--json")
    assert [row["verdict"] for row in json.loads(done.out)] == ["SUPPORTED"]


def test_each_way_a_trial_ends_costs_that_trial_only(toy: ToyPaper, cli: Cli) -> None:
    modes = "raise die hang nan memory exit"
    settings = {"TOY_MODES": modes, "TOY_TIMEOUT": "4", "TOY_COUNT": "2"}
    done = forked.run(toy, *RUN, **settings)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "4 of 12 failed: repro status --failed" in last_line(done.stderr)
    records = [json.loads(path.read_text())["record"] for path in toy.records()]
    found = {r["params"]["mode"]: r for r in records if r["params"]["mode"] != "ok"}
    assert {mode: r["status"] for mode, r in found.items()} == {
        "raise": "failed",
        "die": "failed",
        "hang": "failed",
        "nan": "diverged",
        "memory": "oom",
        "exit": "failed",
    }
    assert found["nan"]["rows"] == [{"square": None}]
    assert "Traceback" in found["raise"]["error"]
    assert found["raise"]["note"] == "ValueError: this trial is broken"
    assert "exit code -9" in found["die"]["note"]
    assert found["hang"]["note"] == "it ran longer than 4 s"
    assert Counter(r["status"] for r in records)["done"] == 6
    # What failed is tried again, and only that.
    num_events = len(toy.events())
    edit(toy.trial, "match point.mode:", 'match "ok":')
    again = cli(*INLINE, **settings)
    assert again.code == 0, again.err
    assert {e["mode"] for e in toy.events()[num_events:]} == {"raise", "die", "hang", "exit"}


@pytest.mark.parametrize(
    ("number", "whole_group"), [(signal.SIGINT, True), (signal.SIGTERM, False)]
)
def test_an_interrupt_stops_cleanly_and_the_run_goes_on_later(
    toy: ToyPaper, cli: Cli, number: signal.Signals, whole_group: bool
) -> None:
    settings = {"TOY_MS": "150", "TOY_COUNT": "8"}
    run = forked.start(toy, *RUN, **settings)
    # A trial that has ended is recorded a moment later.
    wait_for(lambda: len(toy.records()) >= 2)
    workers = descendants(run.pid)
    assert workers
    # A terminal sends its Ctrl-C to the runner and to its workers.
    if whole_group:
        os.killpg(run.pid, number)
    else:
        run.send_signal(number)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "Traceback" not in err
    assert last_line(err) == "interrupted: nothing is lost, the same command goes on from here"
    assert_gone(workers)
    records = [json.loads(path.read_text())["record"]["status"] for path in toy.records()]
    assert set(records) == {"done"} and len(records) < 24
    num_events = len(toy.events())
    assert cli(*INLINE, **settings, TOY_SLOWNESS="0").code == 0
    assert len(toy.events()[num_events:]) == 24 - len(records)


def test_exclusive_trials_run_alone(toy: ToyPaper, tmp_path: Path) -> None:
    edit(
        toy.experiment,
        'return Needs(packages=tuple(os.environ.get("TOY_NEEDS", "").split()))',
        "return Needs(exclusive=point.seed == 1)",
    )
    gate = tmp_path / "gate"
    run = forked.start(toy, *RUN, TOY_MS="80", TOY_GATE=str(gate))
    # Both workers are there before a trial goes on, however late one of them starts.
    wait_for(lambda: len({event["pid"] for event in toy.events()}) == 2)
    gate.touch()
    _, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    ends = {(e["x"], e["seed"]): e["t"] for e in toy.events("end")}
    spans = {key: (e["t"], ends[key]) for e in toy.events() if (key := (e["x"], e["seed"]))}
    overlaps = [
        (one, other)
        for one, (start, end) in spans.items()
        for other, (start2, end2) in spans.items()
        if one < other and start < end2 and start2 < end
    ]
    assert len(spans) == 12
    assert not [pair for pair in overlaps if any(seed == 1 for _, seed in pair)]
    assert overlaps, "the others do run side by side"
    # In their turn, not last: on a machine that is lent for minutes they would never come.
    starts = {n: [start for (_, seed), (start, _) in spans.items() if seed == n] for n in (1, 2)}
    assert max(starts[1]) < min(starts[2])


@needs_mount
@pytest.mark.parametrize("profile", ["smoke", "cpu"])
def test_a_full_disk_is_one_sentence_and_the_run_goes_on_with_space(
    toy: ToyPaper, cli: Cli, small_disk: SmallDisk, profile: str
) -> None:
    toy.root = small_disk.folder / "root"
    toy.root.mkdir()
    toy.env["TOY_LOG"] = str(small_disk.folder.parent / "toy.log")
    command = (*RUN, "--profile", profile)
    with small_disk.filled(spare_bytes=40_000):
        done = forked.run(toy, *command, TOY_COUNT="8")
        assert done.returncode == 3, done.stderr
        assert "Traceback" not in done.stderr
        assert last_line(done.stderr).startswith("repro: ")
        assert "free some space" in last_line(done.stderr)
        assert not list(toy.root.rglob("*.tmp"))
        for path in toy.records():
            json.loads(path.read_text())
    stored = len(toy.records())
    assert stored < 24
    again = cli(*INLINE, "--profile", profile, TOY_COUNT="8")
    assert again.code == 0, again.err
    assert f"{stored} reused" in again.err
    assert len(toy.records()) == 24


@pytest.mark.parametrize("step", ["write_result", "pack_experiments"])
def test_cut_off_before_any_file_a_result_still_rests_on_its_records(
    toy: ToyPaper, cli: Cli, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def cut(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    toy.env["TOY_SEEDS"] = "5"
    assert cli(*INLINE, *CPU, TOY_COUNT="4").code == 0
    with monkeypatch.context() as patch:
        patch.setattr(refresh, step, cut)
        assert cli(*INLINE, *CPU, TOY_COUNT="5").code == 130
    done = cli("check", "toylab/tab01", *CPU, "--json", TOY_COUNT="4")
    assert (done.code, json.loads(done.out)[0]["verdict"]) == (0, "SUPPORTED")


# Records and what is built from them


@pytest.fixture
def ran(cli: Cli) -> Cli:
    """Return `repro` after a run at cpu, whose records are packed."""
    assert cli(*INLINE, *CPU).code == 0
    return cli


def test_a_changed_table_is_an_error_that_names_the_file(toy: ToyPaper, ran: Cli) -> None:
    lines = toy.csv("cpu").read_text().splitlines()
    lines[3] = lines[3].rsplit(",", 1)[0] + ",123"
    toy.csv("cpu").write_text("\n".join(lines) + "\n")
    before = tree(toy.root / "results")
    check = ran("check", "toylab/tab01", *CPU, "--json")
    assert check.code == 1
    (row,) = json.loads(check.out)
    assert row["verdict"] == "ERROR"
    assert str(toy.csv("cpu").relative_to(toy.root)) in row["reason"]
    shown = ran("table", "toylab/tab01", *CPU)
    assert shown.code == 2
    assert_one_sentence(shown.err)
    assert str(toy.csv("cpu")) in shown.err
    assert tree(toy.root / "results") == before
    # Running again restores it, from records alone.
    num_events = len(toy.events())
    assert ran(*INLINE, *CPU).code == 0
    assert toy.events()[num_events:] == []
    assert ran("check", "toylab/tab01", *CPU).code == 0


# Claims


def test_a_view_that_raises_costs_no_trial_and_is_told_with_its_place(
    toy: ToyPaper, cli: Cli
) -> None:
    edit(toy.task, "nullable=True),\n", 'nullable=True),\n        make=lambda f: f["none"],\n')
    done = cli(*INLINE, *CPU)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "KeyError" in done.err and "tab01.py line" in done.err
    pack = toy.root / "results" / "toylab" / "records" / "squares.cpu.jsonl.gz"
    assert len(gzip.decompress(pack.read_bytes()).splitlines()) == len(toy.records()) == 12
