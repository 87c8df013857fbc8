"""What `repro check` and `repro show` print, in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.declare.papers import Deviation, deviations_of, load_deviations
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.errors import UsageError, nearest
from harness.publish.check_row import CheckRow
from harness.publish.counts import counted, rank
from harness.publish.report.claim_line import ClaimLine, in_order
from harness.publish.stand_ins import ran_on_sentence
from harness.publish.verdicts import verdicts_of
from harness.registry import Library
from harness.run.awaited import awaited_by, awaited_text, run_command
from harness.store.result import is_stored, load_result
from harness.store.workspace import Workspace
from harness.terminal import wrapped

OPEN = (Word.CONTRADICTED, Word.UNDECIDED)


def check_text(rows: Sequence[CheckRow], *, everything: bool = False, brief: bool = False) -> str:
    """Return the counts of each paper and profile, then what is contradicted or undecided.

    everything: all verdicts; brief: only what fails.
    """
    parts = []
    for paper, profile in dict.fromkeys((row.task.split("/")[0], row.profile) for row in rows):
        mine = [r for r in rows if r.profile == profile and r.task.startswith(f"{paper}/")]
        parts += wrapped(f"{paper} at {profile}: {counted(mine) or 'nothing to count'}", hang=2)
        shown = [
            row for row in mine if everything or row.fails or (row.verdict in OPEN and not brief)
        ]
        for row in sorted(shown, key=lambda row: rank(row.verdict)):
            parts += line_of(row)
        parts += [""] if shown else []
    return "\n".join(parts).rstrip("\n") or "Nothing was run here: repro run TASK --profile smoke."


def line_of(row: CheckRow) -> list[str]:
    """Return a verdict with its claim's name, its statement and its numbers."""
    line = ClaimLine(row)
    named = wrapped(f"{line.mark} {row.task}:{row.claim}: {row.statement}", 2, hang=2)
    return named + wrapped(line.tail, 4, hang=2)


@dataclass(frozen=True, slots=True)
class View:
    """A task in one profile, with what a reader asks of it."""

    library: Library
    workspace: Workspace
    task: Task
    profile: Profile
    is_stored: bool
    rows: tuple[CheckRow, ...]

    def only(self, claim: str) -> View:
        """Return one claim's verdict. Raises UsageError for an unknown one."""
        known = [row.claim for row in self.rows]
        if claim not in known:
            task, hint = self.task.id, nearest(claim, known)
            raise UsageError(f"{task} has no claim {claim!r}{hint} (repro show {task} lists them)")
        return replace(self, rows=tuple(row for row in self.rows if row.claim == claim))

    @property
    def deviations(self) -> list[Deviation]:
        known = load_deviations(self.library.papers[self.task.paper].folder)
        return deviations_of(known, word=self.task.word, profile=self.profile)

    @property
    def declared(self) -> str:
        """The file that declares it, from the top of the repository."""
        paper = self.library.papers[self.task.paper]
        return "/".join([*paper.package.split("."), self.library.files[self.task.id]])


def view_of(library: Library, workspace: Workspace, task: Task, profile: Profile | None) -> View:
    """Return a task at a profile: by default the largest that is stored, else `cpu`."""
    stored = [p for p in PROFILES if is_stored(workspace, task.id, p)]
    scale: Profile = profile or (stored[-1] if stored else "cpu")
    rows = verdicts_of(workspace, library, [(task.id, scale)])
    return View(library, workspace, task, scale, scale in stored, tuple(rows))


def task_text(view: View) -> str:
    """Return a task's verdicts, the worst first; checks that hold are counted alone."""
    task, shown = view.task, in_order(view.rows)[0]
    awaited = "" if view.is_stored else awaited_text(task.id, awaited_by(task))
    parts = [
        *wrapped(f"{task.id} at {view.profile}: {view.library.titles[task.id]}", hang=2),
        *wrapped(_ran_on(view), hang=2),
        *wrapped(f"{counted(view.rows) or 'It declares no claims'}.", hang=2),
        *wrapped(f"Not run: {awaited}." if awaited else "", hang=2),
        *(line for each in shown for line in line_of(each.row)),
    ]
    told = "; ".join(f"{each.id} {each.what}" for each in view.deviations)
    parts += wrapped(f"Deviations: {told}." if told else "", hang=2)
    return "\n".join([*parts, *wrapped(f"Declared in {view.declared}"), *_commands(view)])


def _ran_on(view: View) -> str:
    """Say what stood in for what the paper names."""
    if not view.is_stored or any(row.verdict == Word.ERROR for row in view.rows):
        return ""
    result = load_result(view.workspace, view.task, view.profile)
    return ran_on_sentence(result.meta.stands_in) if result else ""


def claim_text(view: View) -> str:
    """Return all that is known of a view's one claim."""
    (row,) = view.rows
    claim = next(claim for claim in view.task.claims if claim.id == row.claim)
    scope = claim.scope
    source = f"ours, {scope.deviation}" if scope.deviation else scope.threshold_from
    control = f"Control: {scope.control.statement}: {row.control}." if scope.control else ""
    parts = [
        *line_of(row),
        *wrapped(f"Source: {claim.where}. Threshold: {source}.", hang=2),
        *wrapped(f"The number: {row.deciding}." if row.deciding else "", hang=2),
        *wrapped(control, hang=2),
        *(line for each in view.deviations for line in wrapped(f"{each.id}: {each.what}", hang=2)),
        *wrapped(f"Declared in {view.declared}"),
        *_commands(view),
    ]
    return "\n".join(parts)


def _commands(view: View) -> Iterator[str]:
    """Yield the commands that look further, a line each."""
    task = view.task
    options = f" --profile {view.profile}{view.workspace.overrides.options}"
    if len(view.rows) > 1:
        yield f"  repro show {task.id}:{view.rows[0].claim}{options}"
    if view.is_stored:
        yield f"  repro table {task.id}{options}"
        if task.figure is not None:
            yield f"  repro plot {task.id}{options}"
    yield f"  {run_command(task, view.profile, view.workspace.overrides)}"
