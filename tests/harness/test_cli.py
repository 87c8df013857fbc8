"""The command line: rows as the design names them, no torch where none is needed, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness.commands.common import parse_overrides
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TASK, ToyPaper

LIST_FIELDS = ["id", "paper", "kind", "number", "title", "file", "experiments", "claims"]
CHECK_FIELDS = [
    "task", "claim", "grade", "ours", "profile", "form", "verdict", "reason", "measured", "low",
    "high", "unit", "num_seeds", "threshold", "threshold_from", "paper_value", "registered",
    "control", "seeds_to_decide", "statement", "schema_version",
]  # fmt: skip
"""Those that the design names; others may stand beside them."""


def test_list_rows(cli: Cli) -> None:
    rows = json.loads(cli("list", "toylab", "--json").out)
    assert [list(row) for row in rows] == [LIST_FIELDS]
    assert rows[0] == {
        "id": "toylab/tab01", "paper": "toylab", "kind": "table", "number": "1",
        "title": "Squares grow", "file": "squares/tab01.py",
        "experiments": ["toylab/squares"], "claims": ["grows"],
    }  # fmt: skip


def test_list_names_tasks_with_their_titles_in_80_columns(cli: Cli, toy: ToyPaper) -> None:
    assert cli("list", "toylab").out == "toylab/tab01  Squares grow\n"
    toml = toy.folder / "paper.toml"
    toml.write_text(toml.read_text().replace("Squares grow", "Squares grow " * 20))
    (line,) = cli("list", "toylab").out.splitlines()
    assert 70 < len(line) <= 80 and line.endswith("...")
    assert max(map(len, cli("list").out.splitlines())) <= 80


def test_check_rows_before_and_after_a_run(cli: Cli, toy: ToyPaper) -> None:
    toy.env["TOY_SEEDS"] = "5"
    before = json.loads(cli("check", "toylab", "--json").out)
    assert {*CHECK_FIELDS} <= {*before[0]}
    assert (before[0]["verdict"], before[0]["registered"]) == ("UNTESTED", False)
    assert before[0]["statement"]
    assert cli("run", "toylab", "--executor", "inline").code == 0
    done = cli("check", "toylab", "--json")
    (row,) = json.loads(done.out, parse_constant=_refuse)
    assert done.code == 0
    assert {*CHECK_FIELDS} <= {*row}
    assert (row["verdict"], row["registered"], row["num_seeds"]) == ("SUPPORTED", True, 5)
    assert row["low"] <= row["measured"] <= row["high"]


def _refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is no JSON")


READ = """
import sys
from harness.commands.app import app

heavy = ["torch", "transformers", "matplotlib", "seaborn"]
heavier = [*heavy, "pandas", "scipy"]
unasked = {
    "list": [*heavier, "harness.declare", "reproductions", "toylab"],
    "check": heavier, "plan": heavier, "status": heavier,
}
for verb in ("list", "check", "doctor", "plan", "status", "show", "table"):
    asked = {"show": ["toylab/tab01"], "table": ["toylab/tab01"], "doctor": []}
    words = [verb, *asked.get(verb, ["toylab"])]
    try:
        app(words, standalone_mode=False)
    except SystemExit as end:
        assert not end.code, verb
    # Of results as they were judged no table is read.
    found = [name for name in unasked.get(verb, heavy) if name in sys.modules]
    if found:
        sys.exit(f"{verb} loaded {found}")
"""


def test_reading_verbs_load_neither_torch_nor_what_they_need_not(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", "--executor", "inline").code == 0
    done = subprocess.run(
        [sys.executable, "-c", READ],
        env=toy.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dry", [[], ["--dry-run"]], ids=["run", "dry run"])
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--profile", "smoky"], "'smoke'"),
        (["--set", "y=3"], "no trial has that parameter"),
        (["--set", "x=abc"], "x"),
        (["--seeds", "0"], "at least 1"),
        (["--time-budget", "soon"], "write it as"),
        (["--executor", "slurm"], "'slurm'"),
        (["--jobs", "-1"], "need a number of processes"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_dry_run_checks_what_a_run_checks(
    cli: Cli, toy: ToyPaper, words: list[str], hint: str, dry: list[str]
) -> None:
    done = cli("run", "toylab", *words, *dry)
    assert (done.code, len(done.err.splitlines()), hint in done.err) == (2, 1, True), done.err
    assert not (toy.root / "runs" / "output").exists()


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["list", "toylb"], 2, "'toylab'"),
        (["check", "toylab/tab1"], 2, "did you mean 'toylab/tab01'"),
        (["list", "--kind", "tabel"], 2, "'table'"),
        (["run", "toylab", "--set", "y"], 2, "write name=value"),
        (["nosuchverb"], 2, "nosuchverb"),
        (["list", "--nosuchoption"], 2, "nosuchoption"),
        (["run", "toylab", "--executor", "inline"], 3, "1 of 13 failed"),
    ],
)
def test_bad_input_gets_one_sentence_and_its_exit_code(
    cli: Cli, toy: ToyPaper, words: list[str], code: int, hint: str
) -> None:
    done = cli(*words, TOY_MODES="raise")
    assert done.code == code
    assert hint in done.err
    assert "Traceback" not in done.err
    if code == 2:
        assert toy.starts() == []
        assert not toy.csv().exists()


def test_exact_claim_that_fails_fails_the_check(cli: Cli, toy: ToyPaper) -> None:
    finding = TASK.replace("growth, 1.0", "growth, 1e9")
    toy.task.write_text(finding.replace("by_theory(profiles=SMOKE_AND_CPU)", "CHECK"))
    run = cli("run", "toylab", "--executor", "inline")
    assert (run.code, "FAILS" in run.err, "SUPPORTED" in run.err) == (1, True, False)
    check = cli("check", "toylab", "--json")
    assert (check.code, json.loads(check.out)[0]["verdict"]) == (1, "FAILS")
    # The same claim as a finding fails nothing.
    toy.task.write_text(finding)
    done = cli("check", "toylab", "--json")
    (row,) = json.loads(done.out)
    assert (done.code, row["verdict"], row["registered"]) == (0, "UNDECIDED", False)


def test_claim_that_raises_errs_and_fails_the_check(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", "--executor", "inline").code == 0
    toy.task.write_text(TASK.replace('table["square"].max()', 'table["cube"].max()'))
    done = cli("check", "toylab", "--json")
    (row,) = json.loads(done.out)
    assert (done.code, row["verdict"]) == (1, "ERROR")
    assert "cube" in row["reason"]
    assert "Traceback" not in done.err


def test_overrides_are_read_as_json() -> None:
    found = parse_overrides(["width=512", "lr=0.5", "data=mnist", "on=true", "list=[1]"], None)
    assert found == {"width": 512, "lr": 0.5, "data": "mnist", "on": True, "list": "[1]"}
