"""Every table of a paper as it is printed, from the committed results and from the smoke run."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.commands.app import app
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import UsageError
from harness.publish.report.formats import as_text
from harness.publish.report.paper_table import paper_alone_as, table_as
from harness.publish.report.printed import Printed, print_tables
from harness.publish.stored import reference_of
from harness.registry import load_registry
from harness.store.result import load_result
from harness.store.workspace import Workspace
from harness.terminal import WIDTH
from tests.checkout import ROOT, runs_at_smoke
from tests.conftest import Smoke
from tests.latex import needs_latex, set_by_latex

LIBRARY = load_registry()
TASKS = [
    pytest.param(task, id=name) for name, task in sorted(LIBRARY.tasks.items()) if task.layouts
]
DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs,graphicx}
\begin{document}
%s
\end{document}
"""


@cache
def printed(task: Task, profile: Profile, workspace: Workspace) -> Printed | None:
    """Return a task's printed tables; None where it has no result."""
    found = load_result(workspace, task, profile)
    if found is None:
        return None
    return print_tables(task, found.table, reference_of(LIBRARY, task))


def latex(task: Task) -> str:
    """Return a task's committed table in LaTeX, the paper's values alone where there is none."""
    found = load_result(Workspace(ROOT), task, "cpu")
    title = LIBRARY.titles[task.id]
    reference = reference_of(LIBRARY, task)
    if found is None:
        return paper_alone_as("latex", task, reference, title=title)
    return table_as(
        "latex", task, found.table, reference, title=title, profile="cpu",
        stands_in=found.meta.stands_in,
    )  # fmt: skip


def check(task: Task, content: Printed) -> None:
    """Every reference row stands in a cell or in the list; text fits a terminal."""
    met = {
        place.row
        for table in content.tables
        for row in table.places
        for place in row
        if place.row is not None
    }
    assert len(met) + len(content.others) == len(reference_of(LIBRARY, task))
    assert all(len(row) == len(table.columns) for table in content.tables for row in table.places)
    assert max(map(len, as_text(content).splitlines())) <= WIDTH


def test_there_are_tables() -> None:
    assert len(TASKS) > 20


@pytest.mark.parametrize("task", TASKS)
def test_committed_tables_lose_no_value_of_the_paper(task: Task) -> None:
    content = printed(task, "cpu", Workspace(ROOT))
    if content is not None:
        check(task, content)


@pytest.mark.parametrize("task", [p for p in TASKS if runs_at_smoke(p.values[0])])  # type: ignore[arg-type]
def test_smoke_tables_lose_no_value_of_the_paper(smoke: Smoke, task: Task) -> None:
    content = printed(task, "smoke", smoke.workspace)
    assert content is not None
    check(task, content)


def test_peak_memory_is_printed_as_in_the_paper() -> None:
    text = latex(LIBRARY.tasks["lisa/tab01"])
    assert r"GPT2-Small & 1.4 / 3.8\textsuperscript{e} &" in text
    assert "e early version" in text


def test_values_of_an_early_version_stand_beside_other_models_of_ours() -> None:
    content = printed(LIBRARY.tasks["lisa/tab06"], "cpu", Workspace(ROOT))
    assert content is not None
    assert content.tables[0].texts()[0][0] == "x / 2.59e"
    assert content.tables[0].texts()[0][2].endswith(" / n")
    assert not content.others


def table(*options: str, task: str = "lisa/tab10") -> str:
    """Return what `repro table TASK --profile cpu` prints."""
    done = CliRunner().invoke(app, ["table", task, "--profile", "cpu", *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_without_a_run_the_paper_s_values_are_printed_alone() -> None:
    text = table(task="lisa/tab03")
    assert text.startswith("lisa/tab03, not run here: MT-Bench of TinyLlama, Mistral-7B")
    assert "x / 2.78e" in text
    assert "(here" not in text.splitlines()[0]
    none = CliRunner().invoke(app, ["table", "lisa/tab03", "--profile", "cpu", "--long"])
    assert isinstance(none.exception, UsageError)
    assert "lisa/tab03 has no result at cpu" in str(none.exception)


def test_the_command_prints_the_layout_and_on_request_the_long_form() -> None:
    assert "LISA without sampled blocks" in table().splitlines()[0]
    assert "Ran on: short answers of Alpaca instead of" in " ".join(table().split())
    assert next(csv.reader(io.StringIO(table("--format", "csv"))))[0] == "In nats"
    title, _, header = table("--long").partition("\n\n")
    title = " ".join(title.split())
    assert title.startswith("lisa/tab10, profile cpu: ") and "a LLaMA of 2.1M" in title
    assert header.split()[:3] == ["model", "setting", "method"]


@pytest.mark.tools
def test_no_table_overflows_two_columns(tmp_path: Path) -> None:
    """All committed tables, set by LaTeX."""
    needs_latex("booktabs.sty")
    texts = [latex(parameter.values[0]) for parameter in TASKS]  # type: ignore[arg-type]
    log = set_by_latex(DOCUMENT % "\n\\clearpage\n".join(texts), tmp_path)
    bad = ("Overfull", "LaTeX Warning: Float", "LaTeX Warning: Label `")
    assert [line for line in log.splitlines() if line.startswith(bad)] == []
    assert (tmp_path / "document.pdf").stat().st_size > 50_000
