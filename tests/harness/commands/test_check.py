"""`repro check`: counts, then what is against a claim; and what `make reproduce` prints."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.checkout import ROOT
from tests.harness import forked
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TASK, ToyPaper

LONG = "Squares grow, and they do so at every scale, for every seed and however long one waits."
LOST = TASK.replace("growth, 1.0", "growth, 1e9").replace("Squares grow.", LONG)
CPU = ("--profile", "cpu")
REPRODUCE_LINES = 25
OTHER_LINES = {"report": ["wrote site/index.html"], "table": [""] * 9}
"""What other steps of `make reproduce` print, at most."""


@pytest.mark.parametrize("words", [("check", "toylab"), ("show", "toylab/tab01")])
def test_what_is_against_a_claim_is_told_whole_in_80_columns(
    cli: Cli, toy: ToyPaper, words: tuple[str, ...]
) -> None:
    toy.task.write_text(LOST.replace("SMOKE_AND_CPU)", "SMOKE_AND_CPU, deterministic=True)"))
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    told = cli(*words, *CPU).out
    assert "\N{HEAVY BALLOT X} toylab/tab01:grows" in told
    assert LONG in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80


def test_failing_check_is_written_out_and_fails_even_in_brief(cli: Cli, toy: ToyPaper) -> None:
    toy.task.write_text(LOST.replace("by_theory(profiles=SMOKE_AND_CPU)", "CHECK"))
    cli("run", "toylab", "--executor", "inline")
    for done in (cli("check", "toylab"), cli("check", "toylab", "--brief")):
        assert done.code == 1
        assert "toylab/tab01:grows: Squares grow, and" in done.out


def test_a_task_without_claims_has_nothing_to_check(cli: Cli, toy: ToyPaper) -> None:
    toy.task.write_text(TASK[: TASK.index("    claims=claims(")] + ")\n")
    cli("run", "toylab", "--executor", "inline")
    done = cli("check", "toylab/tab01", "--profile", "smoke")
    assert done.code == 0 and "no claims to check: repro table" in done.out


def reproduce_steps() -> list[list[str]]:
    """Return the arguments of `repro` in the target that is the README's first command."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^reproduce:.*\n((?:\t.*\n)+)", text, flags=re.MULTILINE)
    steps = [line.strip() for line in recipe.splitlines()]
    assert all(step.startswith("@") for step in steps), "make repeats what it runs"
    return [
        shlex.split(step.replace("$(JOBS)", "1"))[1:]
        for step in steps
        if step.startswith("@$(REPRO)")
    ]


def test_reproduce_prints_few_lines(toy: ToyPaper, cli: Cli) -> None:
    lines = []
    for step in reproduce_steps():
        if step[0] in ("report", "table"):
            lines += OTHER_LINES[step[0]]
            continue
        words = [*step, "toylab"]
        # A run has workers, which a process of its own ends with; the others only read.
        if step[0] == "run":
            run = forked.run(toy, *words, TOY_COUNT="20")
            code, said = run.returncode, run.stdout + run.stderr
        else:
            done = cli(*words, TOY_COUNT="20")
            code, said = done.code, done.out + done.err
        assert code == 0, said
        lines += said.splitlines()
    assert len(lines) <= REPRODUCE_LINES, "\n".join(lines)
    assert "60 of 60 trials done, 0 failed, about 0 s left" in lines
    assert "no checks. This quick run says nothing about the papers." in lines
