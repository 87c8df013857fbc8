"""Every fault a user can meet: one clear sentence, nothing lost, nothing half-written."""

from __future__ import annotations

import errno
import fcntl
import gzip
import json
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import atomic
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
    settings = {"TOY_GATE": str(gate), "TOY_MS": "20", "TOY_COUNT": "8"}
    runs = [forked.start(toy, *RUN, **settings) for _ in range(2)]
    # Until the gate opens, two workers of each run hold a trial: the runs do overlap.
    wait_for(lambda: len({event["pid"] for event in toy.events()}) == 4)
    gate.touch()
    ends = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], ends
    assert len(toy.starts()) == len(set(toy.starts())) == 24
    assert len(toy.csv().read_text().splitlines()) == 25
    done = cli("check", "toylab/tab01", "--profile", "smoke", "--json")
    assert [row["verdict"] for row in json.loads(done.out)] == ["SUPPORTED"]


def test_a_run_goes_through_where_the_file_system_has_no_locks(
    toy: ToyPaper, cli: Cli, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(atomic, "_told", [])
    done = cli(*INLINE)
    assert done.code == 0
    assert caplog.text.count("has no locks: run one command at a time") == 1
    assert toy.csv().exists()


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


def test_an_interrupt_while_workers_start_leaves_no_traceback(toy: ToyPaper) -> None:
    run = toy.start(*RUN)
    wait_for(lambda: len(descendants(run.pid)) >= 2)
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in err and "KeyboardInterrupt" not in err


def test_a_time_budget_stops_cleanly_and_the_run_goes_on_later(toy: ToyPaper) -> None:
    settings = {"TOY_MS": "400", "TOY_COUNT": "8"}
    # Long enough to start, too short to end.
    done = forked.run(toy, *RUN, "--time-budget", "2s", **settings)
    assert done.returncode == 0, done.stderr
    assert "the time budget is used up" in last_line(done.stderr)
    assert len(toy.records()) < 24
    stored = {path.stem for path in toy.records()}
    num_events = len(toy.events())
    assert forked.run(toy, *RUN, **settings, TOY_SLOWNESS="0").returncode == 0
    assert len(toy.events()[num_events:]) == 24 - len(stored)


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


def test_a_torn_record_is_planned_with_its_reason_run_again_and_kept(
    toy: ToyPaper, cli: Cli
) -> None:
    assert cli(*INLINE).code == 0
    table = toy.csv().read_bytes()
    victims = toy.records()[:3]
    whole = [path.read_bytes() for path in victims]
    victims[0].write_bytes(whole[0][:200])
    victims[1].write_bytes(whole[1].replace(b'"square":', b'"square":1'))
    victims[2].write_bytes(whole[0])
    rows = json.loads(cli("plan", "toylab/tab01", "--json").out)
    why = {row["reason"] for row in rows if row["action"] == "run"}
    assert why == {
        "its record is torn: it is not complete JSON",
        "its record was edited: its content does not match its digest",
        "its record is foreign: it holds another trial",
    }
    num_events = len(toy.events())
    assert cli(*INLINE).code == 0
    assert len(toy.events()[num_events:]) == 3
    assert len(list(toy.root.rglob("*.rejected-1"))) == 3
    assert toy.csv().read_bytes() == table


def test_a_torn_record_comes_back_from_the_committed_ones(toy: ToyPaper, ran: Cli) -> None:
    victim = toy.records()[0]
    whole = victim.read_bytes()
    victim.write_bytes(whole[:200])
    num_events = len(toy.events())
    assert ran(*INLINE, *CPU).code == 0
    assert toy.events()[num_events:] == []
    assert victim.read_bytes() == whole


def test_a_fresh_clone_runs_nothing(toy: ToyPaper, ran: Cli) -> None:
    before = tree(toy.root / "results")
    shutil.rmtree(toy.root / "runs")
    num_events = len(toy.events())
    assert ran(*INLINE, *CPU).code == 0
    assert toy.events()[num_events:] == []
    assert tree(toy.root / "results") == before


@pytest.mark.parametrize("length", [0, 30, -10])
def test_a_damaged_pack_is_refused_by_name_and_left_as_it_is(
    toy: ToyPaper, ran: Cli, length: int
) -> None:
    pack = toy.root / "results" / "toylab" / "records" / "squares.cpu.jsonl.gz"
    cut = pack.read_bytes()[:length]
    pack.write_bytes(cut)
    for words in (INLINE, ("plan", "toylab/tab01"), ("status", "toylab/tab01")):
        done = ran(*words, *CPU)
        assert done.code == 2
        assert_one_sentence(done.err)
        assert str(pack) in done.err and "git checkout" in done.err
    assert pack.read_bytes() == cut


def test_an_edited_line_of_a_pack_is_named(toy: ToyPaper, ran: Cli) -> None:
    pack = toy.root / "results" / "toylab" / "records" / "squares.cpu.jsonl.gz"
    lines = gzip.decompress(pack.read_bytes()).decode().splitlines()
    lines[4] = lines[4].replace('"square":', '"square":9')
    pack.write_bytes(gzip.compress("\n".join(lines).encode()))
    done = ran(*INLINE, *CPU)
    assert done.code == 2 and f"{pack} line 5 was edited" in done.err


def damage_column(path: Path) -> str:
    edit(path, "square", "cube")
    return "line 1"


def damage_value(path: Path) -> str:
    lines = path.read_text().splitlines()
    lines[3] = lines[3].rsplit(",", 1)[0] + ",123"
    path.write_text("\n".join(lines) + "\n")
    return "line 4"


def damage_type(path: Path) -> str:
    lines = path.read_text().splitlines()
    lines[2] = "many" + lines[2]
    path.write_text("\n".join(lines) + "\n")
    return "line 3"


def damage_end(path: Path) -> str:
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines)[: -len(lines[-1]) + 2])
    return f"line {len(lines)}"


def damage_rows(path: Path) -> str:
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-1]) + "\n")
    return f"line {len(lines)}"


def damage_line_ends(path: Path) -> str:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return "was changed"


def damage_bytes(path: Path) -> str:
    path.write_bytes(b"\x00\xff" + path.read_bytes())
    return "tab01.cpu.csv"


@pytest.mark.parametrize(
    "damage",
    [
        damage_column,
        damage_value,
        damage_type,
        damage_end,
        damage_rows,
        damage_line_ends,
        damage_bytes,
    ],
)
def test_a_changed_table_is_an_error_that_names_file_and_line(
    toy: ToyPaper, ran: Cli, damage: Callable[[Path], str]
) -> None:
    place = damage(toy.csv("cpu"))
    before = tree(toy.root / "results")
    check = ran("check", "toylab/tab01", *CPU, "--json")
    assert check.code == 1
    (row,) = json.loads(check.out)
    assert row["verdict"] == "ERROR"
    assert str(toy.csv("cpu").relative_to(toy.root)) in row["reason"] and place in row["reason"]
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


def change_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_text(path.read_text()[:100]),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("[]"),
        lambda path: change_json(path, unknown_key=1),
        lambda path: change_json(path, num_rows="many"),
        lambda path: change_json(path, task="toylab/other"),
        lambda path: change_json(path, profile="paper"),
        lambda path: path.unlink(),
    ],
)
def test_a_damaged_sidecar_is_an_error_that_names_the_file(
    toy: ToyPaper, ran: Cli, damage: Callable[[Path], object]
) -> None:
    sidecar = toy.csv("cpu").with_suffix(".json")
    damage(sidecar)
    check = ran("check", "toylab/tab01", *CPU, "--json")
    (row,) = json.loads(check.out)
    assert (check.code, row["verdict"]) == (1, "ERROR")
    assert str(sidecar.relative_to(toy.root)) in row["reason"]
    shown = ran("table", "toylab/tab01", *CPU)
    assert shown.code == 2
    assert_one_sentence(shown.err)


# Words that mean nothing


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("run", "toylab/tab1"), "'toylab/tab01'"),
        (("run", "toylob"), "'toylab'"),
        (("plan", "toylab/tab01", "--profile", "smok"), "'smoke'"),
        (("list", "--kind", "tabel"), "'table'"),
        (("run", "toylab/tab01", "--set", "sed=3"), "'seed'"),
        (("run", "toylab/tab01", "--set", "width"), "name=value"),
        (("run", "toylab/tab01", "--set", "seeds=lots"), "whole number"),
        (("run", "toylab/tab01", "--set", "x=NaN"), "finite"),
        (("run", "toylab/tab01", "--set", "x=many"), "x='many' is no int"),
        (("run", "toylab/tab01", "--set", "seed=true"), "seed=True is no int"),
        (("run", "toylab/tab01", "--seeds", "0"), "at least 1"),
        (("run", "toylab/tab01", "--jobs", "-3"), "--jobs -3"),
        (("run", "toylab/tab01", "--time-budget", "soon"), "25m"),
        (("run", "toylab/tab01", "--executor", "inlin"), "'inline'"),
        (("plot", "toylab/tab01"), "repro run"),
        (("table", "toylab/tab01", "--format", "latx", "--profile", "cpu"), "latex"),
        (("records", "import", "nowhere.tar.gz"), "nowhere.tar.gz does not exist"),
        (("records", "export", "out.tar.gz", "toylab"), "no result"),
    ],
)
def test_a_wrong_word_is_one_sentence_with_the_nearest_right_one(
    toy: ToyPaper, cli: Cli, words: tuple[str, ...], near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy.root)
    before = tree(toy.root)
    done = cli(*words)
    assert done.code == 2, done.err
    assert near in done.err
    assert_one_sentence(done.err)
    assert tree(toy.root) == before


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


# What changes the plan


def test_overridden_runs_stay_apart_from_committed_results(toy: ToyPaper, ran: Cli) -> None:
    before = tree(toy.root / "results")
    assert ran(*INLINE, *CPU, "--set", "x=9").code == 0
    assert ran(*INLINE, *CPU, "--seeds", "5").code == 0
    assert tree(toy.root / "results") == before
    apart = [
        json.loads(path.read_text())
        for path in (toy.root / "runs" / "output").rglob("tab01.cpu.json")
    ]
    found = {json.dumps(meta["provenance"]["overrides"]): meta["num_rows"] for meta in apart}
    assert found == {'{"x": 9}': 3, '{"seeds": 5}': 20}
    records = [json.loads(path.read_text())["record"] for path in toy.records()]
    assert Counter(str(r["provenance"]["overrides"]) for r in records) == {
        "{}": 12,
        "{'x': 9}": 3,
        "{'seeds': 5}": 8,
    }


def test_records_travel_to_a_checkout_that_has_none(
    toy: ToyPaper, ran: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "carry.tar.gz"
    assert ran("records", "export", str(file), "toylab", *CPU).code == 0
    toy.root = tmp_path / "other"
    toy.root.mkdir()
    assert ran("records", "import", str(file)).code == 0
    assert ran(*INLINE, *CPU).code == 0
    assert toy.events() == []
    again = tmp_path / "again.tar.gz"
    assert ran("records", "export", str(again), "toylab", *CPU).code == 0
    assert again.read_bytes() == file.read_bytes()
    file.write_bytes(file.read_bytes()[:-50])
    before = tree(toy.root)
    done = ran("records", "import", str(file))
    assert done.code == 2
    assert_one_sentence(done.err)
    assert tree(toy.root) == before


NOISE = """
    for stream in (sys.stdout, sys.stderr):
        print("a library's greeting" * 10_000, file=stream, flush=True)
"""


def test_a_closed_stderr_does_not_end_a_run_nor_a_trial_that_prints(toy: ToyPaper) -> None:
    edit(toy.trial, '    log("start", point.to_json())\n', NOISE)
    command = " ".join([*toy.command(*RUN), "2>&1", "|", "head", "-n", "1"])
    subprocess.run(
        ["bash", "-c", command], env=toy.environment(), capture_output=True, check=True, timeout=120
    )
    found = [json.loads(path.read_text())["record"] for path in toy.records()]
    assert [record["status"] for record in found] == ["done"] * 12, found[0]["error"]
