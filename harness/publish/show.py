"""One task or claim with what a reader asks of it: answers, what would decide, where to look."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from harness.declare.claims import Claim
from harness.declare.overrides import Overrides
from harness.declare.papers import Deviation, deviations_of, load_deviations, load_paper
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.errors import DataError, SpecError
from harness.publish.check_row import CheckRow
from harness.publish.labels import labels_of
from harness.publish.not_run import paper_alone
from harness.publish.power import needed
from harness.publish.report.check_text import Shown
from harness.publish.verdicts import check_claim, claim_of, gone_of, shown, verdicts_of
from harness.registry import Library
from harness.run.awaited import RUN_AT, awaited_by, awaited_text, run_command
from harness.store.result import TaskResult, is_stored, load_result
from harness.store.workspace import Workspace
from harness.untrusted import read_text


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A verdict with what its claim declares, and what would decide it."""

    shown: Shown
    claim: Claim | None
    """None where it was withdrawn."""
    needed: str
    """How many seeds would decide it, or why no number says so; empty where it is decided."""


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A task in one profile."""

    task: Task
    profile: Profile
    title: str
    """With what stood in for what it names."""
    files: Mapping[str, Path]
    """What its claims may be declared in, from the top of the repository; its own file first."""
    answers: tuple[Answer, ...]
    deviations: tuple[Deviation, ...]
    overrides: Overrides
    waits: str = ""
    """That it waits for a card or a judge, and what runs it there."""
    run: str
    """The command that runs it, in this profile or where it has trials."""
    shows: tuple[str, ...]
    """The verbs that have something to show of it."""
    headlines: frozenset[str] = frozenset()
    """The claims that its paper's pages open with."""

    @property
    def options(self) -> str:
        """What a command needs to ask for this variant in this profile."""
        return f" --profile {self.profile}{self.overrides.options}"

    @property
    def rows(self) -> list[CheckRow]:
        return [answer.shown.row for answer in self.answers]

    def only(self, claim: str) -> View:
        """Return one claim's verdicts, the deciding first. Raises UsageError for an unknown one."""
        everything = f"repro check {self.task.id}{self.options} --all"
        check_claim(self.task.id, claim, [row.claim for row in self.rows], everything)
        found = [answer for answer in self.answers if answer.shown.row.claim == claim]
        found.sort(key=lambda answer: not answer.shown.row.decides)
        return replace(self, answers=tuple(found))

    def declared(self, claim: str = "") -> str:
        """Return file and line of a claim, or of the task: there a claim is whose id is made up."""
        for word in filter(None, [claim, self.task.id]):
            for name, file in self.files.items():
                if word in _texts(file):
                    return f"{name}:{_texts(file)[word]}"
        return f"{next(iter(self.files))}:1"


def largest_stored(workspace: Workspace, task: Task) -> Profile:
    """Return the largest profile that a task is stored in; `cpu` where there is none."""
    return next((p for p in reversed(PROFILES) if is_stored(workspace, task, p)), "cpu")


def view_of(
    library: Library,
    workspace: Workspace,
    task: Task,
    profile: Profile,
    cohort: str | None = None,
) -> View:
    """Decide a task's claims anew and gather what stands beside them.

    cohort: its verdicts alone; by default all.
    """
    place, overrides = [(task, profile)], workspace.overrides
    rows = verdicts_of(library, workspace, place)
    rows += [r for r in gone_of(library, workspace, place, [task.id]) if r.task == task.id]
    rows = [row for row in rows if cohort in (None, row.cohort)]
    paper, result = library.papers[task.paper], _result(workspace, task, profile)
    title = library.titles[task.id]
    return View(
        task=task,
        profile=profile,
        title=labels_of(task, profile, title, overrides).text(title),
        files=_places(library, task),
        answers=tuple(
            Answer(
                shown=shown(library, overrides, row),
                claim=(claim := claim_of(task, row.claim)),
                needed=_needed(row, claim, task, result),
            )
            for row in rows
        ),
        deviations=tuple(
            deviations_of(load_deviations(paper.folder), word=task.word, profile=profile)
        ),
        overrides=overrides,
        waits=_waits(workspace, task),
        run=run_command(task, profile, overrides),
        shows=_shows(library, task, is_stored=result is not None),
        headlines=_headlines(paper.folder, task),
    )


def _headlines(folder: Path, task: Task) -> frozenset[str]:
    claims = (headline.claim.split(":") for headline in load_paper(folder).headlines)
    return frozenset(claim for word, claim in claims if word == task.word)


def _waits(workspace: Workspace, task: Task) -> str:
    awaited = awaited_by(task)
    if not awaited or is_stored(workspace, task, RUN_AT[awaited]):
        return ""
    return f"Not run: {awaited_text(task.id, awaited)}."


def _shows(library: Library, task: Task, *, is_stored: bool) -> tuple[str, ...]:
    """Return which of `table` and `plot` have something: of what was not run, the paper's values.

    A file of reference values that is damaged has none.
    """
    if is_stored:
        return ("table", "plot") if task.figure is not None else ("table",)
    try:
        return ("table",) if paper_alone(library, task, "text") else ()
    except SpecError:
        return ()


def _result(workspace: Workspace, task: Task, profile: Profile) -> TaskResult | None:
    try:
        return load_result(workspace, task, profile)
    except DataError:  # which every row tells
        return None


def _needed(row: CheckRow, claim: Claim | None, task: Task, result: TaskResult | None) -> str:
    found = None if result is None else needed(row, claim, task, result)
    return found.told if found else ""


def _places(library: Library, task: Task) -> dict[str, Path]:
    """Return the files in which a task's claims may be declared, by their names in the repository.

    Its own, then those of its paper that it takes anything from.
    """
    paper, module = library.papers[task.paper], sys.modules[library.modules[task.id]]
    names = [getattr(each, "__module__", "") for each in vars(module).values()]
    modules = [module, *(each for each in vars(module).values() if isinstance(each, ModuleType))]
    modules += [sys.modules[name] for name in names if name in sys.modules]
    top = "/".join(paper.package.split("."))
    files = [Path(file) for each in modules if (file := getattr(each, "__file__", None))]
    inside = dict.fromkeys(file for file in files if file.is_relative_to(paper.folder))
    return {f"{top}/{file.relative_to(paper.folder).as_posix()}": file for file in inside}


@functools.cache
def _texts(file: Path) -> dict[str, int]:
    """Return the line where each text of a Python file stands first."""
    lines: dict[str, int] = {}
    for node in ast.walk(ast.parse(read_text(file))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            lines[node.value] = min(node.lineno, lines.get(node.value, node.lineno))
    return lines
