"""`repro show`: all of one task or claim, on what is committed and on a small paper."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
from harness.publish.report.show_text import (
    ANSWERS,
    FOLDED,
    MOST_LINES,
    claim_text,
    commands,
    task_text,
)
from scipy import stats
from typer.testing import CliRunner

from harness.commands.app import app
from harness.declare.papers import load_paper
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.report.units import Reading
from harness.publish.show import View, largest_stored, view_of
from harness.registry import Library, load_registry
from harness.store.workspace import Workspace
from tests.checkout import ROOT
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TASK, ToyPaper

LIBRARY = load_registry()
ALL = sorted(LIBRARY.tasks)
WORST_FIRST = ["FAILS", "ERROR", "NOT_REPRODUCED", "INCONCLUSIVE", "NOT_RUN", "REPRODUCED"]
COMMAND = re.compile(r"^  repro \w+ ")


@pytest.fixture(scope="module")
def library() -> Library:
    return LIBRARY


@cache
def told(task: str) -> tuple[View, str]:
    """Return what is committed of a task, and how it is shown."""
    view = committed(LIBRARY, task)
    return view, task_text(view)


def committed(library: Library, task: str) -> View:
    workspace = Workspace(ROOT)
    return view_of(
        library, workspace, library.one(task), largest_stored(workspace, library.one(task))
    )


@pytest.mark.parametrize("task", ALL)
def test_a_committed_task_is_told_in_40_lines_of_80_columns(task: str) -> None:
    lines = told(task)[1].splitlines()
    assert len(lines) <= MOST_LINES == 40
    assert max(len(line) for line in lines if not COMMAND.match(line)) <= 80
    said = [word for line in lines if (word := line.split(" ")[0]) in WORST_FIRST]
    assert said == sorted(said, key=WORST_FIRST.index)


@pytest.mark.parametrize("task", ALL)
def test_no_word_is_lost_and_no_claim_stands_for_another(task: str) -> None:
    """Each claim that has an answer is written out, or named with its own number and mark."""
    view, text = told(task)
    said = " ".join(each.shown.statement for each in view.answers)
    assert text.count(" ...") <= said.count(" ...") and " alike\n" not in text
    blocks = text.split("\n\n")
    (below,) = [part for part in blocks if part.startswith("Also ")] or [""]
    written = {part.split()[1] for part in blocks if part.split(" ")[0] in WORST_FIRST}
    decided = [each for each in view.answers if each.shown.row.decides]
    decided = [each for each in decided if each.shown.row.verdict not in FOLDED]
    for each in decided:
        name, whole = each.shown.row.claim, " ".join(text.split())
        if name in written:
            for words in (each.shown.statement, each.needed, each.shown.row.reason):
                assert words in whole or words == OVERLAPS
        else:
            number = Reading(row=each.shown.row, unit=each.shown.unit).ours or "no number"
            flat = " ".join(below.split())
            found = re.search(rf"\b{name}\b[^:;]*: ([^;]*)[;.]", flat)
            assert found and found[1].startswith(number), (name, number)
            # Its mark begins the sentence that it stands in.
            mark = each.shown.mark or f"Also {each.shown.word}"
            sentence = re.split(r"\. (?=[A-Z])", flat[: found.start()])[-1]
            assert f"{mark}: ".lower() in sentence.lower(), (name, mark, sentence)
    assert written or not decided
    assert all(f"{each.id} {each.what}" in " ".join(text.split()) for each in view.deviations)


@pytest.mark.parametrize("task", ["lisa/with_kernels", "kernels/on_device"])
def test_a_task_for_a_card_says_so_and_what_runs_it(library: Library, task: str) -> None:
    """Unless it was run there."""
    view, told = committed(library, task), f"`make gpu ONLY={task}` runs it."
    if view.profile != "gpu":
        assert f"Not run: it needs a GPU; on a machine with one {told}" in " ".join(
            task_text(view).split()
        )
    assert "make gpu" not in task_text(committed(library, "lisa/tab01"))


@pytest.mark.parametrize("profile", ["cpu", "gpu"])
@pytest.mark.parametrize("task", ["lisa/with_kernels", "kernels/on_device"])
def test_commands_name_what_runs_a_task_that_only_a_card_runs(
    library: Library, task: str, profile: Profile
) -> None:
    view = view_of(library, Workspace(ROOT), library.one(task), profile)
    assert f"make gpu ONLY={task}" == commands(view)[-1].strip()
    assert not [line for line in commands(view) if "repro run" in line]


def test_commands_show_nothing_of_what_was_not_run_but_the_paper_s_values(
    cli: Cli, library: Library, tmp_path: Path
) -> None:
    task, empty = library.one("lisa/tab03"), Workspace(tmp_path)
    verbs = [line.split()[1] for line in commands(view_of(library, empty, task, "cpu"))]
    assert (task.figure is None, verbs) == (False, ["show", "check", "table", "run"])
    done = cli("show", "toylab/tab01", "--profile", "gpu")
    assert "repro table" not in done.out and "repro run toylab/tab01 --profile cpu" in done.out
    done = cli("table", "toylab/tab01", "--profile", "gpu")
    told = "toylab/tab01 has no result at gpu: repro run toylab/tab01 --profile cpu"
    assert (done.code, told in done.err) == (2, True), done.err


def test_how_many_seeds_would_decide_is_said_of_cifar10(library: Library) -> None:
    done = CliRunner().invoke(app, ["show", "asymvalley/tab01"])
    assert done.exit_code == 0 and len(done.stdout.splitlines()) <= MOST_LINES
    # It is a headline of its paper, and so written out before others of its verdict.
    part = done.stdout.split("INCONCLUSIVE fedsign_gains_cifar10\n")[1].split("\n\n")[0]
    told = re.search(r"about (\d+) (?:seeds )?would decide it", part)
    assert told is not None
    view, count = committed(library, "asymvalley/tab01"), int(told[1])
    (row,) = (r for r in view.rows if r.claim == "fedsign_gains_cifar10" and r.decides)
    assert row.verdict == "INCONCLUSIVE"
    low, high, measured, bound = row.low, row.high, row.measured, row.threshold
    assert low is not None and high is not None and measured is not None
    assert isinstance(bound, float)
    # The interval of so many seeds, at the spread that was seen, is shorter than the way to zero:
    # four times in five, and with one seed less not as often.
    spread = (high - low) / 2 / stats.t.ppf(0.975, row.num_seeds - 1) * row.num_seeds**0.5
    power = []
    for seeds in (count - 1, count):
        half = stats.t.ppf(0.975, seeds - 1)
        shift = abs(measured - bound) / spread * seeds**0.5
        power.append(float(stats.nct.sf(half, seeds - 1, shift)))
        assert half * spread / seeds**0.5 < abs(measured - bound)
    assert power == pytest.approx([0.8, 0.8], abs=0.01) and power[0] < 0.8 <= power[1]


def test_deviations_source_and_commands_stand_beside(library: Library) -> None:
    view = committed(library, "asymvalley/tab01")
    text = " ".join(task_text(view).split())
    for deviation in view.deviations:
        assert f"{deviation.id} {deviation.what}" in text
    file, _, line = view.declared().rpartition(":")
    assert '"asymvalley/tab01"' in (ROOT / file).read_text().splitlines()[int(line) - 1]
    assert "repro table asymvalley/tab01 --profile cpu" in text


def test_a_claim_is_declared_where_its_id_stands(library: Library) -> None:
    view = committed(library, "supar/fig06").only("supar_stays")
    file, _, line = view.declared("supar_stays").rpartition(":")
    # Another task of the study has a claim of this name in a file of its own.
    assert file == "reproductions/supar/models/claims.py"
    assert '"supar_stays"' in (ROOT / file).read_text().splitlines()[int(line) - 1]
    text = claim_text(view)
    assert f"Declared in {file}:{line}" in text
    assert "asked at most 1" in text and "in the paper: " in text


def test_every_verdict_has_an_answer_in_words() -> None:
    assert set(ANSWERS) == set(Word)


def test_answer_and_numbers_of_a_claim(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", "--profile", "cpu", "--executor", "inline").code == 0
    done = cli("show", "toylab/tab01:grows")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "REPRODUCED toylab/tab01:grows at cpu"
    assert "Squares grow." in lines[1]
    assert lines[2].startswith("  Yes, reproduced: ours ") and "3 seeds" in lines[2]
    assert "Declared in toylab/squares/tab01.py:" in done.out
    number = TASK.splitlines().index('            "grows",') + 1
    assert f"tab01.py:{number}" in done.out
    (row,) = json.loads(cli("show", "toylab/tab01:grows", "--json").out)
    checked = json.loads(cli("check", "toylab", "--profile", "cpu", "--json").out)[0]
    assert {name: row[name] for name in checked} == checked
    assert row["declared"].endswith(f"tab01.py:{number}") and row["needed"] == ""
    # Without the profile it is the largest that is stored; before that, what to run.
    (row,) = json.loads(cli("show", "toylab/tab01", "--profile", "smoke", "--json").out)
    assert (row["verdict"], "repro run" in row["reason"]) == ("NOT_RUN", True)


def test_an_undecided_claim_says_how_many_seeds_it_needs(cli: Cli, toy: ToyPaper) -> None:
    body = 'float(table["square"].max() - table["square"].min())'
    numbers = TASK.replace(body, 'float(table["seed"].iloc[0])').replace("growth, 1.0", "growth, 0")
    toy.task.write_text(numbers)
    assert cli("run", "toylab", "--profile", "cpu", "--executor", "inline").code == 0
    (row,) = json.loads(cli("show", "toylab/tab01", "--json").out)
    assert (row["verdict"], row["seeds_to_decide"]) == ("INCONCLUSIVE", 10)
    assert row["needed"].startswith("about 10 seeds would decide it")
    assert row["needed"] in " ".join(cli("show", "toylab/tab01").out.split())


def test_a_variant_is_shown_as_one(cli: Cli) -> None:
    variant = ("--set", "x=9", "--seeds", "4")
    assert cli("run", "toylab", "--executor", "inline", *variant).code == 0
    out = cli("show", "toylab/tab01", *variant).out
    assert out.startswith("Variant seeds=4, x=9")
    assert "repro check toylab/tab01 --profile smoke --set x=9 --seeds 4 --all" in out


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("toylab/tab1", "did you mean 'toylab/tab01'"),
        ("toylab/tab01:grow", "did you mean 'grows'"),
        ("toylab", ""),
        ("*", "names"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(cli: Cli, name: str, hint: str) -> None:
    done = cli("show", name)
    if name == "toylab":  # of a paper with one task that is the one
        assert done.code == 0
        return
    assert (done.code, done.err.count("\n"), hint in done.err) == (2, 1, True), done.err


def test_a_task_has_one_title_everywhere(cli: Cli, toy: ToyPaper) -> None:
    paper = toy.folder / "paper.toml"
    paper.write_text(paper.read_text().replace("Squares grow", "How squares grow with x"))
    assert cli("run", "toylab", "--profile", "cpu", "--executor", "inline").code == 0
    (row,) = json.loads(cli("list", "toylab", "--json").out)
    told = [row["title"], cli("list", "toylab").out, cli("show", "toylab/tab01").out]
    forms = ("text", "markdown", "latex")
    told += [cli("table", "toylab/tab01", "--format", form).out for form in forms]
    for text in told:
        assert "How squares grow with x" in text


def test_no_task_has_a_title_beside_that_of_its_paper_file(library: Library) -> None:
    """Pages, tables and figures are given the one that a paper.toml has."""
    assert [f.name for f in fields(Task) if "title" in f.name] == []
    for paper in library.papers.values():
        titles = {f"{paper.name}/{item.id}": item.title for item in load_paper(paper.folder).items}
        mine = {t: title for t, title in library.titles.items() if t.split("/")[0] == paper.name}
        assert mine.items() <= titles.items()
        assert len(set(mine.values())) == len(mine), "two tasks have one title"
