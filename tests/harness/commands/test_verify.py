"""`repro verify` on the toy paper: what agrees, what is kept, and that nothing else changes."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from harness.measure.machine import source_state
from harness.store.record import read_pack
from tests.harness import forked
from tests.harness.conftest import Cli
from tests.harness.inline_lab import tree
from tests.harness.run.test_faults import edit, last_line, wait_for
from tests.harness.run.test_kill import assert_gone, descendants
from tests.harness.toy_paper import ToyPaper

VERIFY = ("verify", "toylab", "--executor", "inline")
KEPT = "results/toylab/verify/squares.cpu.jsonl"
SQUARE = 'float(point.x ** 2 + ctx.seed("noise") % 7)'


@pytest.fixture
def ran(cli: Cli) -> Cli:
    """Return `repro` on a toy paper that was run at `cpu`."""
    assert cli("run", "toylab", "--profile", "cpu", "--executor", "inline").code == 0
    return cli


def kept(toy: ToyPaper) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (toy.root / KEPT).read_text().splitlines()]


def words(toy: ToyPaper) -> set[str]:
    return {row["outcome"] for row in kept(toy)}


def change_run(toy: ToyPaper, old: str, new: str) -> None:
    edit(toy.trial, old, new)


def checkout(toy: ToyPaper) -> dict[str, bytes]:
    """Return what lies in the checkout but for the log of the trials themselves."""
    return {name: data for name, data in tree(toy.root).items() if name != "toy.log"}


def test_unchanged_code_agrees_to_the_bit(ran: Cli, toy: ToyPaper) -> None:
    before = checkout(toy)
    done = ran(*VERIFY)
    assert (done.code, words(toy)) == (0, {"bit"})
    # A processor's name may be too long for the line.
    line = " ".join(done.out.split())
    assert line.startswith("toylab/squares 3 of 3 agree (3 bit) ")
    assert line.count("toylab") == line.count(" -> ") == 1
    assert last_line(done.err).startswith("every outcome is kept")
    after = checkout(toy)
    assert len(after.pop(KEPT).splitlines()) == 3
    assert after == before


def test_a_second_verify_keeps_the_lines_of_the_first(ran: Cli, toy: ToyPaper) -> None:
    assert ran(*VERIFY).code == 0
    first = (toy.root / KEPT).read_bytes()
    change_run(toy, SQUARE, f"{SQUARE} + 1000.0")
    assert ran(*VERIFY, "--sample", "2").code == 0
    assert (toy.root / KEPT).read_bytes().startswith(first)
    assert [row["outcome"] for row in kept(toy)] == ["bit"] * 3 + ["differs"] * 2


def test_the_draw_is_that_of_the_hash(ran: Cli, toy: ToyPaper) -> None:
    commit = source_state().commit
    keys = [r.key for r in read_pack(toy.root / "results/toylab/records/squares.cpu.jsonl.gz")]
    place = {k: hashlib.sha256(f"{commit} toylab/squares {k}".encode()).hexdigest() for k in keys}
    rows = json.loads(ran(*VERIFY, "--sample", "4", "--json").out)
    assert [row["key"] for row in rows] == sorted(keys, key=place.__getitem__)[:4]
    assert rows == kept(toy)
    assert {(row["commit"], row["record_commit"]) for row in rows} == {(commit, commit)}
    assert len(json.loads(ran(*VERIFY, "--sample", "99", "--json").out)) == 12


def test_a_change_within_rounding_is_close(ran: Cli, toy: ToyPaper) -> None:
    change_run(toy, SQUARE, f"{SQUARE} * (1 + 1e-6)")
    done = ran(*VERIFY, "--sample", "12")
    assert (done.code, words(toy) - {"bit"}) == (0, {"close"})  # a square of 0 stays one
    assert "12 of 12 agree" in done.out
    for row in kept(toy):
        if row["outcome"] == "close":
            assert row["relative"] == pytest.approx(1e-6, rel=1e-3)
            assert (row["column"], row["reason"]) == ("square", "")


def test_a_changed_quantity_differs_and_fails_nothing(ran: Cli, toy: ToyPaper) -> None:
    # Squares that all grow by as much leave the claim's growth as it is, which has no spread.
    change_run(toy, SQUARE, f"{SQUARE} + (0.5 if point.x == 3 else 0.0)")
    done = ran(*VERIFY, "--sample", "12")
    assert (done.code, words(toy)) == (0, {"bit", "differs"})
    assert "9 of 12 agree (9 bit)" in done.out
    told = [line for line in done.out.splitlines() if line.startswith("  differs: ")]
    assert len(told) == 3 and all("toylab/squares[x=3" in line for line in told)
    (row, *_) = [row for row in kept(toy) if row["outcome"] == "differs"]
    assert row["reason"] == "toylab/tab01:grows moves by 0.5, its seeds spread by 0"
    assert row["column"] == "square" and 0.01 < row["relative"] < 0.1
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_move_within_the_spread_of_seeds_agrees(ran: Cli, toy: ToyPaper) -> None:
    edit(toy.task, 'table["square"].max() - table["square"].min()', 'table["square"].max()')
    change_run(toy, SQUARE, f"{SQUARE} + (0.01 if point.x == 3 else 0.0)")
    done = ran(*VERIFY, "--sample", "12")
    assert (done.code, words(toy)) == (0, {"bit", "spread"})
    assert "12 of 12 agree (9 bit, 3 spread)" in done.out
    (row, *_) = [row for row in kept(toy) if row["outcome"] == "spread"]
    assert row["reason"].startswith("toylab/tab01:grows moves by 0.01, its seeds spread by ")


def test_measured_columns_may_change(ran: Cli, toy: ToyPaper) -> None:
    change_run(toy, SQUARE, f"{SQUARE} + 1000.0")
    edit(toy.task, 'value("square"', 'measured("square"')
    assert (ran(*VERIFY).code, words(toy)) == (0, {"bit"})


def test_what_cannot_run_here_is_said(ran: Cli, toy: ToyPaper) -> None:
    num_starts = len(toy.starts())
    done = ran(*VERIFY, TOY_NEEDS="nosuchthing")
    assert (done.code, words(toy)) == (0, {"not_run"})
    assert "toylab/squares 3 not run " in " ".join(done.out.split())
    assert "not run: toylab/squares[x=" in done.out
    assert kept(toy)[0]["reason"] == "needs the package nosuchthing, which is not installed"
    assert len(toy.starts()) == num_starts


def test_trials_that_fail_give_their_exit_code(ran: Cli, toy: ToyPaper) -> None:
    raising = f'raise FileNotFoundError("{toy.root}/net.bin")'
    change_run(toy, 'log("start", point.to_json())', raising)
    done = ran(*VERIFY)
    assert (done.code, words(toy)) == (3, {"differs"})
    assert "3 of 3 failed" in last_line(done.err)
    assert {row["reason"] for row in kept(toy)} == {"done then, failed now: FileNotFoundError"}
    assert "Traceback" not in done.err


def test_outcomes_name_no_host_no_user_and_no_path(ran: Cli, toy: ToyPaper) -> None:
    change_run(toy, SQUARE, f"{SQUARE} + 1000.0")
    ran(*VERIFY)
    text = (toy.root / KEPT).read_text()
    for word in (str(toy.root), "/tmp", socket.gethostname(), getpass.getuser()):
        assert f'"{word}' not in text and f" {word}" not in text
    assert {"load_average", "versions"} & set(kept(toy)[0]["machine"]) == set()
    assert set(kept(toy)[0]["record_machine"]) == set(kept(toy)[0]["machine"])


def test_stale_draws_from_older_code_alone(ran: Cli, toy: ToyPaper) -> None:
    done = ran(*VERIFY, "--stale")
    assert (done.code, done.out) == (0, "")
    assert not (toy.root / KEPT).exists()
    change_run(toy, SQUARE, f"{SQUARE} + 0.0")
    assert ran(*VERIFY, "--stale").code == 0
    assert words(toy) == {"bit"}


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--profile", "smoke"], "no record is committed at smoke"),
        (["--sample", "0"], "--sample 0: need a whole number of at least 1"),
        (["--jobs", "-1"], "--jobs -1: need a number of processes"),
        (["--experiment", "toylab/square"], "'toylab/squares'"),
    ],
)
def test_bad_input_gets_one_sentence_and_changes_nothing(
    ran: Cli, toy: ToyPaper, options: list[str], hint: str
) -> None:
    before = checkout(toy)
    done = ran(*VERIFY, *options)
    assert done.code == 2
    assert hint in done.err and "Traceback" not in done.err
    assert checkout(toy) == before


def test_a_damaged_file_of_outcomes_is_refused_before_anything_runs(
    ran: Cli, toy: ToyPaper
) -> None:
    assert ran(*VERIFY).code == 0
    edit(toy.root / KEPT, '"outcome":"bit"', '"outcome":"good"')
    before, num_starts = checkout(toy), len(toy.starts())
    done = ran(*VERIFY)
    assert done.code == 2 and f"{toy.root / KEPT} line 1" in done.err
    assert (checkout(toy), len(toy.starts())) == (before, num_starts)


@pytest.mark.parametrize("whole_group", [False, True])
def test_an_interrupt_leaves_nothing_but_finished_outcomes(
    ran: Cli, toy: ToyPaper, tmp_path: Path, whole_group: bool
) -> None:
    before = checkout(toy)
    toy.log.unlink()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    # Two trials end, then the next ones never do.
    change_run(
        toy,
        "time.sleep(seconds)",
        'while open(os.environ["TOY_LOG"]).read().count(\'"end"\') > 1: time.sleep(0.01)',
    )
    command = ("verify", "toylab", "--sample", "12", "--jobs", "1")
    run = forked.start(toy, *command, TMPDIR=str(scratch))
    wait_for(lambda: len(toy.events()) == 3)
    assert list(scratch.glob("repro-verify-*"))
    workers = descendants(run.pid)
    if whole_group:
        os.killpg(run.pid, signal.SIGINT)
    else:
        run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "Traceback" not in err
    assert last_line(err).startswith("interrupted: what was compared is kept")
    assert "2 of 2 agree (2 bit)" in out
    assert_gone(workers)
    after = checkout(toy)
    assert len(after.pop(KEPT).splitlines()) == 2
    assert after == before
    assert not list(scratch.glob("repro-verify-*"))
