"""Verbs that read write nothing: not into a checkout, and not where they could not."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.conftest import Cli
from tests.harness.inline_lab import tree
from tests.harness.run.test_faults import CPU, INLINE
from tests.harness.small_disk import needs_mount
from tests.harness.toy_paper import ToyPaper

READING = [
    ("list",),
    ("plan", "toylab", *CPU),
    ("plan", "toylab", *CPU, "--set", "x=9"),
    ("status", "toylab", *CPU),
    ("status", "toylab", "--failed"),
    ("check", "toylab"),
    ("check", "toylab", "--deep"),
    ("check", "toylab", "--set", "x=9"),
    ("show", "toylab/tab01"),
    ("variants",),
    ("params", "toylab"),
    ("table", "toylab/tab01"),
    ("doctor",),
    ("data", "list"),
    ("data", "verify", "digits"),
]
NUM_TRIALS = 20


@pytest.fixture
def ran(cli: Cli, toy: ToyPaper) -> Cli:
    """Return `repro` on a checkout with committed results, where one record is torn."""
    toy.env["TOY_SEEDS"] = "5"
    assert cli(*INLINE, *CPU).code == 0
    torn, *others = toy.records()
    torn.write_text("{")
    for path in others[:5]:
        path.unlink()
    return cli


def test_reading_verbs_change_no_file(ran: Cli, toy: ToyPaper) -> None:
    before, paths = tree(toy.root), set(toy.root.rglob("*"))
    for words in READING:
        assert ran(*words).code == 0, words
        assert tree(toy.root) == before, words
        assert set(toy.root.rglob("*")) == paths, words


def test_what_is_told_as_text_fits_80_columns(cli: Cli) -> None:
    verbs = (
        ("data", "list"),
        ("data", "verify"),
        ("doctor",),
        ("list",),
        ("params", "supar/fig06"),
    )
    trials = tuple((*verb, "lisa") for verb in (("plan",), ("status",), ("status", "--failed")))
    for words in (*verbs, *trials):
        lines = cli(*words).out.splitlines()
        assert [line for line in lines if len(line) > 80] == [], words


@pytest.fixture
def read_only(ran: Cli, toy: ToyPaper, tmp_path: Path) -> Iterator[Cli]:
    """Return `repro` on the same checkout below a mount that is read-only, also for root."""
    mount = tmp_path / "read-only"
    mount.mkdir()
    subprocess.run(["mount", "--bind", str(toy.root), str(mount)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(mount)], check=True)
        toy.root = mount
        yield ran
    finally:
        subprocess.run(["umount", "--lazy", str(mount)], check=True)


@needs_mount
def test_reading_verbs_answer_in_a_read_only_checkout(read_only: Cli, tmp_path: Path) -> None:
    for words in READING:
        done = read_only(*words)
        assert done.code == 0, (words, done.err)
    assert read_only("records", "export", str(tmp_path / "all.tar.gz"), "toylab", *CPU).code == 0
    (row,) = json.loads(read_only("check", "toylab", "--json").out)
    assert row["verdict"] == "SUPPORTED"


def test_committed_results_stand_in_for_records_that_are_torn_or_absent(
    ran: Cli, tmp_path: Path
) -> None:
    plan = json.loads(ran("plan", "toylab", *CPU, "--json").out)
    assert [row["action"] for row in plan] == ["reuse"] * NUM_TRIALS
    status = json.loads(ran("status", "toylab", *CPU, "--json").out)
    assert [row["state"] for row in status] == ["done"] * NUM_TRIALS
    done = ran("records", "export", str(tmp_path / "all.tar.gz"), "toylab", *CPU)
    assert (done.code, f"{NUM_TRIALS} records" in done.err) == (0, True), done.err
