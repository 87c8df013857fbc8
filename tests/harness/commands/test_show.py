"""`repro show`: all of one task or claim."""

from __future__ import annotations

import pytest

from tests.harness.commands.varied import INLINE, told
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TASK, ToyPaper

CPU = ("--profile", "cpu", *INLINE)
SEVERAL = TASK.replace(
    "        (\n",
    """        ("whole", CHECK, at_least(growth, 1.0, "1"), "The table is whole."),
        (
            "soars",
            by_theory(profiles=SMOKE_AND_CPU).controlled("it grows", at_least(growth, 1.0, "1")),
            at_least(growth, 1e3, "1"),
            "Squares soar.",
        ),
        (
""",
    1,
)
DEVIATION = """
[[deviation]]
id = "DEV-01"
what = "few numbers"
paper = "Many."
ours = "Four."
effect = "None."
tasks = ["*"]
profiles = ["cpu"]
"""


@pytest.fixture
def shown(cli: Cli, toy: ToyPaper) -> Cli:
    """Return `repro` on a task with a claim that is supported, one that is not, and a check."""
    toy.task.write_text(SEVERAL)
    toy.add_file("deviations.toml", DEVIATION)
    toy.env["TOY_SEEDS"] = "5"
    assert cli("run", "toylab", *CPU).code == 0
    return cli


def test_a_task_is_told_the_worst_first_with_where_to_look(shown: Cli) -> None:
    done = shown("show", "toylab/tab01")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "toylab/tab01 at cpu: Squares grow"
    assert lines[1] == "2 claims: ✔ 1 supported, ✘ 1 contradicted; 1 of 1 check holds."
    marks = [line[:3].strip() for line in lines if line[:2] == "  " and line[2] in "✔✘"]
    assert marks == ["✘", "✔"]
    assert "Deviations: DEV-01 few numbers." in lines
    assert "Declared in toylab/squares/tab01.py" in lines
    commands = [line.split()[1] for line in lines if line.startswith("  repro ")]
    assert commands == ["show", "table", "run"]
    assert max(map(len, lines)) <= 80


def test_a_claim_is_told_with_source_control_and_place(shown: Cli) -> None:
    out = shown("show", "toylab/tab01:soars").out
    assert out.startswith("  ✘ toylab/tab01:soars: Squares soar.\n    Ours ")
    assert "asked at least 1000; 5 seeds" in out
    for told_too in (
        "Source: nowhere. Threshold: theory.",
        "Control: it grows: held.",
        "DEV-01: few numbers",
    ):
        assert told_too in out.splitlines()
    (row,) = told(shown("show", "toylab/tab01:soars", "--json"))
    assert row["declared"] == "toylab/squares/tab01.py"
    assert [each["id"] for each in row["deviations"]] == ["DEV-01"]
    (checked,) = (
        each
        for each in told(shown("check", "toylab", "--profile", "cpu", "--json"))
        if each["claim"] == "soars"
    )
    assert checked.items() <= row.items() and row["verdict"] == "CONTRADICTED"


def test_what_was_not_run_says_what_runs_it(cli: Cli) -> None:
    out = cli("show", "toylab/tab01").out
    assert out.startswith("toylab/tab01 at cpu: ")
    assert "repro table" not in out and "  repro run toylab/tab01 --profile cpu" in out
    # At a profile where it has no trial, the command is that of one where it has.
    out = cli("show", "toylab/tab01", "--profile", "gpu").out
    assert "  repro run toylab/tab01 --profile cpu" in out.splitlines()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("toylab/tab1", "did you mean 'toylab/tab01'"),
        ("toylab/tab01:grow", "did you mean 'grows'"),
        ("*", "names"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(cli: Cli, name: str, hint: str) -> None:
    done = cli("show", name)
    assert (done.code, done.err.count("\n"), hint in done.err) == (2, 1, True), done.err
