"""`repro verify` on the toy paper: what agrees, what is kept, and that nothing else changes."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from harness.commands.verify import summary_lines
from harness.run.verify import Outcome
from tests.harness import forked
from tests.harness.conftest import Cli
from tests.harness.inline_lab import tree
from tests.harness.run.test_faults import edit, last_line, wait_for
from tests.harness.run.test_kill import assert_gone, descendants
from tests.harness.toy_paper import ToyPaper

VERIFY = ("verify", "toylab", "--executor", "inline")
KEPT = "results/toylab/verified.jsonl"
SQUARE = 'float(point.x ** 2 + ctx.seed("noise") % 7)'


@pytest.fixture
def ran(cli: Cli) -> Cli:
    """Return `repro` on a toy paper that was run at `cpu`."""
    assert cli("run", "toylab", "--profile", "cpu", "--executor", "inline").code == 0
    return cli


def kept(toy: ToyPaper) -> dict[str, Any]:
    """Return the one line of this processor."""
    (line,) = (toy.root / KEPT).read_text().splitlines()
    return dict(json.loads(line))


def checkout(toy: ToyPaper) -> dict[str, bytes]:
    """Return what lies in the checkout but for the log of the trials themselves."""
    return {name: data for name, data in tree(toy.root).items() if name != "toy.log"}


def test_unchanged_code_agrees_to_the_bit(ran: Cli, toy: ToyPaper) -> None:
    before = checkout(toy)
    done = ran(*VERIFY)
    assert done.code == 0
    assert done.out.startswith("toylab/squares  3 bit\n  recorded on ")
    assert (kept(toy)["num_trials"], kept(toy)["num_agree"], kept(toy)["differ"]) == (3, 3, [])
    assert last_line(done.err).startswith("kept in results/toylab/verified.jsonl")
    after = checkout(toy)
    assert after.pop(KEPT)
    assert after == before


def test_json_has_an_outcome_per_trial(ran: Cli, toy: ToyPaper) -> None:
    edit(toy.trial, SQUARE, f"{SQUARE} + (0.5 if point.x == 3 else 0.0)")
    done = ran(*VERIFY, "--sample", "99", "--json")
    rows = json.loads(done.out)
    assert (done.code, len(rows)) == (0, 12), "a difference is a finding"
    differ = [row for row in rows if row["outcome"] == "differs"]
    assert len(differ) == 3 and all("[x=3 " in row["trial"] for row in differ)
    assert {row["outcome"] for row in rows} == {"bit", "differs"}
    assert all(row["reason"].startswith("row 0 square: ") for row in differ)


def test_what_cannot_run_here_is_said_and_nothing_is_kept(ran: Cli, toy: ToyPaper) -> None:
    num_starts = len(toy.starts())
    done = ran(*VERIFY, TOY_NEEDS="nosuchthing")
    assert (done.code, len(toy.starts())) == (0, num_starts)
    assert done.out.startswith("toylab/squares  3 not run\n")
    assert "nosuchthing" in done.out
    assert not (toy.root / KEPT).exists()


def test_trials_that_fail_give_their_exit_code(ran: Cli, toy: ToyPaper) -> None:
    edit(toy.trial, 'log("start", point.to_json())', 'raise FileNotFoundError("net.bin")')
    done = ran(*VERIFY)
    assert (done.code, kept(toy)["num_agree"]) == (3, 0)
    assert "3 of 3 failed" in last_line(done.err) and "Traceback" not in done.err


@pytest.mark.parametrize("cpu", ["A", "The longest name of a processor that anybody has sold " * 3])
def test_a_line_per_experiment_and_one_for_what_differs_fit_80_columns(cpu: str) -> None:
    """Whatever the processors are called: none of this machine's is in it."""
    one = Outcome("lab/a", "lab/a[x=1]", "bit", then=cpu)
    why = "row 0 state: 'on' then, 'off' now"
    other = Outcome("lab/long", "lab/long[x=1]", "differs", why, then=cpu)
    lines = summary_lines([one, one, other])
    assert lines[:2] == ["lab/a     2 bit", "lab/long  1 differs"]
    assert "differs: lab/long[x=1]: row 0 state" in " ".join(lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--profile", "smoke"], "no record is committed at smoke"),
        (["--sample", "0"], "--sample 0: need a whole number of at least 1"),
        (["--jobs", "-1"], "--jobs -1: need a number of processes"),
    ],
)
def test_bad_input_gets_one_sentence_and_changes_nothing(
    ran: Cli, toy: ToyPaper, options: list[str], hint: str
) -> None:
    before = checkout(toy)
    done = ran(*VERIFY, *options)
    assert (done.code, hint in done.err, "Traceback" in done.err) == (2, True, False)
    assert checkout(toy) == before


def test_a_damaged_file_of_outcomes_is_refused_before_anything_runs(
    ran: Cli, toy: ToyPaper
) -> None:
    assert ran(*VERIFY).code == 0
    edit(toy.root / KEPT, '"num_trials":3', '"num_trials":-3')
    before, num_starts = checkout(toy), len(toy.starts())
    done = ran(*VERIFY)
    assert done.code == 2 and f"{toy.root / KEPT} is damaged" in done.err
    assert (checkout(toy), len(toy.starts())) == (before, num_starts)


def test_an_interrupt_leaves_nothing_but_finished_outcomes(
    ran: Cli, toy: ToyPaper, tmp_path: Path
) -> None:
    before = checkout(toy)
    toy.log.unlink()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    # Two trials end, then the next ones never do.
    edit(
        toy.trial,
        "time.sleep(seconds)",
        'while open(os.environ["TOY_LOG"]).read().count(\'"end"\') > 1: time.sleep(0.01)',
    )
    command = ("verify", "toylab", "--sample", "12", "--jobs", "1")
    run = forked.start(toy, *command, TMPDIR=str(scratch))
    wait_for(lambda: len(toy.events()) == 3)
    assert list(scratch.glob("repro-verify-*"))
    workers = descendants(run.pid)
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "Traceback" not in err
    assert last_line(err).startswith("interrupted: what was compared is kept")
    assert "toylab/squares  2 bit" in out
    assert_gone(workers)
    after = checkout(toy)
    after.pop(KEPT)
    assert (after, kept(toy)["num_trials"]) == (before, 2)
    assert not list(scratch.glob("repro-verify-*"))
