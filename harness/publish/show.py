"""One task or claim with what a reader asks of it: verdicts, deviations, where to look further."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from harness.declare.overrides import Overrides
from harness.declare.papers import Deviation, deviations_of, load_deviations
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.errors import UsageError, nearest
from harness.publish.check_row import CheckRow
from harness.publish.counts import counted, rank
from harness.publish.report.check_text import line_of, wrapped
from harness.publish.verdicts import verdicts_of
from harness.registry import Library
from harness.run.awaited import awaited_by, awaited_text, run_command
from harness.store.result import is_stored, load_result
from harness.store.workspace import Workspace


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A task in one profile."""

    task: Task
    profile: Profile
    title: str
    ran_on: str
    """What stood in for what the paper names."""
    declared: str
    """The file that declares it, from the top of the repository."""
    rows: tuple[CheckRow, ...]
    deviations: tuple[Deviation, ...]
    overrides: Overrides
    waits: str
    """That it waits for a card or a judge, and what runs it there."""
    run: str
    """The command that runs it, in this profile or where it has trials."""
    is_stored: bool

    def only(self, claim: str) -> View:
        """Return one claim's verdict. Raises UsageError for an unknown one."""
        known = [row.claim for row in self.rows]
        if claim not in known:
            everything = f"repro show {self.task.id}"
            hint = nearest(claim, known)
            raise UsageError(
                f"{self.task.id} has no claim {claim!r}{hint} ({everything} lists them)"
            )
        return replace(self, rows=tuple(row for row in self.rows if row.claim == claim))


def largest_stored(workspace: Workspace, task: Task) -> Profile:
    """Return the largest profile that a task is stored in; `cpu` where there is none."""
    return next((p for p in reversed(PROFILES) if is_stored(workspace, task, p)), "cpu")


def view_of(library: Library, workspace: Workspace, task: Task, profile: Profile) -> View:
    """Gather a task's verdicts and what stands beside them."""
    rows = verdicts_of(library, workspace, [(task, profile)])
    stored, here = is_stored(workspace, task, profile), {}
    if stored and not any(row.verdict == Word.ERROR for row in rows):
        result = load_result(workspace, task, profile)
        here = result.meta.stands_in if result else {}
    awaited = "" if stored else awaited_by(task)
    folder = library.papers[task.paper].folder
    return View(
        task=task,
        profile=profile,
        title=library.titles[task.id],
        ran_on=", ".join(f"{what} for {name}" for name, what in here.items()),
        declared=_declared(library, task),
        rows=tuple(sorted(rows, key=lambda row: (rank(row.verdict), row.kind != "claim"))),
        deviations=tuple(deviations_of(load_deviations(folder), word=task.word, profile=profile)),
        overrides=workspace.overrides,
        waits=f"Not run: {awaited_text(task.id, awaited)}." if awaited else "",
        run=run_command(task, profile, workspace.overrides),
        is_stored=stored,
    )


def task_text(view: View) -> str:
    """Return a task's verdicts, the worst first; checks that hold are counted alone."""
    quiet = (Word.HOLDS, Word.UNTESTED)
    shown = [r for r in view.rows if r.kind != "check" or r.verdict not in quiet]
    parts = [
        *wrapped(f"{view.task.id} at {view.profile}: {view.title}"),
        *wrapped(f"Ran on: {view.ran_on}." if view.ran_on else ""),
        *wrapped(f"{counted(view.rows) or 'It declares no claims'}."),
        *wrapped(view.waits),
        *(line for row in shown for line in line_of(row)),
        *wrapped(f"Deviations: {'; '.join(f'{d.id} {d.what}' for d in view.deviations)}.")[
            : 99 if view.deviations else 0
        ],
        *wrapped(f"Declared in {view.declared}"),
        *_commands(view),
    ]
    return "\n".join(parts)


def claim_text(view: View) -> str:
    """Return all that is known of a view's one claim."""
    (row,) = view.rows
    claim = next(claim for claim in view.task.claims if claim.id == row.claim)
    scope = claim.scope
    source = f"ours, {scope.deviation}" if scope.deviation else scope.threshold_from
    control = f"Control: {scope.control.statement}: {row.control}." if scope.control else ""
    parts = [
        *line_of(row),
        *wrapped(f"Source: {claim.where}. Threshold: {source}."),
        *wrapped(f"The number: {row.deciding}." if row.deciding else ""),
        *wrapped(control),
        *(line for d in view.deviations for line in wrapped(f"{d.id}: {d.what}")),
        *wrapped(f"Declared in {view.declared}"),
        *_commands(view),
    ]
    return "\n".join(parts)


def _commands(view: View) -> Iterator[str]:
    """Yield the commands that look further, a line each."""
    task = view.task
    options = f" --profile {view.profile}{view.overrides.options}"
    if len(view.rows) > 1:
        yield f"  repro show {task.id}:{view.rows[0].claim}{options}"
    if view.is_stored:
        yield f"  repro table {task.id}{options}"
        if task.figure is not None:
            yield f"  repro plot {task.id}{options}"
    yield f"  {view.run}"


def _declared(library: Library, task: Task) -> str:
    paper = library.papers[task.paper]
    file = Path(str(sys.modules[library.modules[task.id]].__file__))
    return "/".join([*paper.package.split("."), file.relative_to(paper.folder).as_posix()])
