"""`repro check` and `repro summary` in a real terminal, and what `make reproduce` prints."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess

import pytest

from tests.checkout import ROOT
from tests.harness import forked
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TASK, ToyPaper

LONG = "Squares grow, and they do so at every scale, for every seed and however long one waits."
LOST = TASK.replace("growth, 1.0", "growth, 1e9").replace("Squares grow.", LONG)
FOUND = [
    "toylab at cpu: no checks; claims: 1 reproduced (1 that no relabelling can test),",
    "  0 not",
]
CPU = ("--profile", "cpu")
ROOM_FOR_COUNTS = 27
"""Lines of the 40 of `make reproduce` for what it counts of all papers, at smoke and committed."""


def in_a_terminal(toy: ToyPaper, *words: str, columns: int = 80) -> list[str]:
    """Return the lines that `repro` shows on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        toy.command(*words),
        env=toy.environment(COLUMNS=str(columns), TERM="xterm"),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux says so that the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    return shown.decode().splitlines()


def test_terminal_shows_whole_words_in_80_columns(cli: Cli, toy: ToyPaper) -> None:
    toy.task.write_text(LOST)
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    lines = in_a_terminal(toy, "check", "toylab", *CPU)
    assert lines[0] == "toylab at cpu: no checks; claims: 0 reproduced, 1 not"
    assert "NOT_REPRODUCED  toylab/tab01:grows at cpu" in lines
    assert max(map(len, lines)) <= 80
    assert LONG in " ".join(line.strip() for line in lines)


@pytest.mark.parametrize("words", [("check", "toylab"), ("show", "toylab/tab01")])
def test_a_narrow_terminal_breaks_no_word_and_no_command(
    cli: Cli, toy: ToyPaper, words: tuple[str, ...]
) -> None:
    toy.task.write_text(LOST)
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    lines = in_a_terminal(toy, *words, *CPU, columns=44)
    commands = [line for line in lines if line.startswith("  repro ")]
    assert max(len(line) for line in lines if line not in commands) <= 44
    plain = cli(*words, *CPU).out
    assert " ".join("\n".join(lines).split()) == " ".join(plain.split())
    assert commands == [line for line in plain.splitlines() if line.startswith("  repro ")]


@pytest.mark.parametrize("columns", [50, 80, 120])
def test_a_table_on_a_terminal_breaks_no_name(toy: ToyPaper, columns: int) -> None:
    """One that is too wide folds its column of words between them, or stands row by row."""
    paper = toy.folder / "paper.toml"
    paper.write_text(paper.read_text().replace('title = "Squares grow"', f'title = "{LONG}"'))
    shown = in_a_terminal(toy, "list", "toylab", columns=columns)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown]
    assert max(map(len, lines)) <= columns
    words = [word for line in lines for word in line.split()]
    assert {"toylab/tab01", "squares/tab01.py"} <= {word.rstrip(";") for word in words}
    title = LONG.split()
    assert [word.rstrip(";") for word in words if word.rstrip(";") in title] == title
    assert lines[0].startswith("id") == (columns > 80)


SKIPPED = """        (
            "at_scale",
            by_theory(profiles=("paper",)),
            at_least(growth, 1.0, "1"),
            "Squares grow at scale \\u0007 < & \\"so\\".",
        ),
        (
            "errs",
            by_theory(profiles=SMOKE_AND_CPU),
            at_least(lambda table: 1 / 0, 1.0, "1"),
            "Nothing is divided by zero.",
        ),
"""


def test_a_number_is_told_with_what_it_is_and_how_it_stands(cli: Cli, toy: ToyPaper) -> None:
    """As pages tell it, in whatever a verb prints or writes of it."""
    several = LOST.replace("at_least(growth, 1e9", "at_least(lambda t: [growth(t), 9.0], 1e9")
    named = several.replace('"1"),', '"1").naming("x", "y").measuring("largest less smallest"),')
    assert named != several != LOST
    toy.task.write_text(named)
    toy.add_task("tab02", TASK.replace("tab01", "tab02"))
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    told = "largest less smallest; y decides, worst of 2; 3 seeds"
    listed = cli("check", "toylab", *CPU)
    for done in (listed, cli("check", "toylab/tab01", *CPU), cli("show", "toylab/tab01:grows")):
        assert told in " ".join(done.out.split()), done.out


def test_json_is_the_same_with_all_and_brief(cli: Cli) -> None:
    plain = cli("check", "toylab", "--json")
    assert json.loads(plain.out)
    assert cli("check", "toylab", "--json", "--all") == plain
    assert cli("check", "toylab", "--json", "--brief") == plain


def test_failing_check_is_written_out_and_fails_even_in_brief(cli: Cli, toy: ToyPaper) -> None:
    toy.task.write_text(LOST.replace("by_theory(profiles=SMOKE_AND_CPU)", "CHECK"))
    cli("run", "toylab", "--executor", "inline")
    for done in (cli("check", "toylab"), cli("check", "toylab", "--brief")):
        assert done.code == 1
        assert done.out.startswith("toylab at smoke: 0 of 1 check holds, 1 FAIL\n")
        assert "\nFAILS  toylab/tab01:grows at smoke\n" in done.out


def test_one_cohort_is_shown_whether_it_decides_or_not(cli: Cli) -> None:
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    assert "REPRODUCED" not in cli("check", "toylab", *CPU).out
    assert "REPRODUCED  toylab/tab01:grows" in cli("check", "toylab", *CPU, "--cohort", "first").out


def test_summary_repeats_what_is_stored_with_committed_runs(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", "--executor", "inline").code == 0
    assert cli("summary").out == "No run is committed.\n"
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    assert cli("summary").out.splitlines() == [
        "The committed runs found:",
        *FOUND,
        "seals of 1 decided: 1 sealed",
    ]
    words = ("task", "claim", "cohort", "verdict", "decides")
    checked = json.loads(cli("check", "toylab", *CPU, "--json").out)
    stored = json.loads(cli("summary", "--json").out)
    assert [[r[w] for w in words] for r in stored] == [[r[w] for w in words] for r in checked]
    # A claim that came later has no stored verdict, and one that is gone is not counted.
    toy.task.write_text(TASK.replace('"grows"', '"grows_now"'))
    assert cli("summary").out.endswith("claims: 1 not run\n")


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_half_a_result_is_told_with_its_name(cli: Cli, toy: ToyPaper, suffix: str) -> None:
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    path = toy.csv("cpu").with_suffix(suffix)
    path.unlink()
    for words in (("summary",), ("table", "toylab/tab01", *CPU)):
        done = cli(*words)
        assert done.code == 2 and f"{path.name} is missing" in done.err, words


def test_a_number_that_no_json_holds_is_told_with_its_file(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    path = toy.csv("cpu").with_suffix(".json")
    path.write_text(re.sub(r'"memory_bytes": ?\d+', '"memory_bytes": -Infinity', path.read_text()))
    assert "-Infinity" in path.read_text()
    done = cli("table", "toylab/tab01", *CPU)
    assert done.code == 2 and path.name in done.err


def test_damaged_result_stops_the_summary_with_its_name(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    path = toy.csv("cpu").with_suffix(".json")
    path.write_text(path.read_text().replace("REPRODUCED", "NOT_REPRODUCED"))
    done = cli("summary")
    assert done.code == 2
    assert path.name in done.err and "Traceback" not in done.err


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


def test_reproduce_prints_at_most_40_lines(toy: ToyPaper, cli: Cli) -> None:
    """What is counted of all papers, which a test of the committed results holds, has its room."""
    assert cli("run", "toylab", *CPU, "--executor", "inline").code == 0
    lines, counts = list[str](), dict[str, list[str]]()
    for step in reproduce_steps():
        chosen = [] if step[0] == "report" else ["toylab"]
        # A run has workers, which a process of its own ends with; the others only read.
        if step[0] == "run":
            run = forked.run(toy, *step, *chosen, TOY_COUNT="20")
            code, out, err = run.returncode, run.stdout, run.stderr
        else:
            done = cli(*step, *chosen, TOY_COUNT="20")
            code, out, err = done.code, done.out, done.err
        assert code == 0, err
        lines += [*out.splitlines(), *err.splitlines()]
        counts[step[0]] = out.splitlines()
    echoed, counted = 1, len(counts["check"]) + len(counts["summary"])
    assert len(lines) + echoed - counted + ROOM_FOR_COUNTS <= 40, "\n".join(lines)
    assert "48 of 48 trials done, 0 failed, about 0 s left" in lines
    assert "Smoke shows that everything works here; it says nothing about the papers." in lines
    assert "The committed runs found:" in lines
    assert lines[-3:-1] == FOUND
    assert lines[-1] == "seals of 1 decided: 1 sealed"
