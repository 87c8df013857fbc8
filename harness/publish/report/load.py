"""Reads from disk what a paper's page shows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.declare.papers import Item, deviations_of, load_deviations, load_paper
from harness.declare.profiles import Profile
from harness.declare.reference import load_reference
from harness.declare.table import Frame
from harness.declare.task import Task
from harness.errors import DataError, SpecError, UsageError
from harness.publish.check_row import CheckRow
from harness.publish.report.page import BEST_FIRST, PaperPage, Run, Section
from harness.publish.report.printed import print_tables, print_without_run
from harness.publish.verdicts import paper_verdicts, verdicts_of, write_verdicts
from harness.registry import Library, PaperFolder
from harness.run.awaited import awaited_by, awaited_text
from harness.run.verify import load_verified, verified_text
from harness.store.code import experiment_code
from harness.store.result import figure_path, is_stored, load_result
from harness.store.workspace import Workspace
from harness.untrusted import is_there, read_bytes

log = logging.getLogger(__name__)

DEFAULT: Profile = "cpu"
"""The profile that an item is shown at where nobody has run it."""


def load_pages(
    workspace: Workspace,
    library: Library,
    *,
    store: bool = False,
    tell: Callable[[str], object] = log.warning,
) -> list[PaperPage]:
    """Return every paper with its stored results.

    store: write verdicts that are not those of today's code and tables; tell: gets what is wrong
    with a paper that cannot be read, which stops no other one.

    A damaged result becomes a run with a `problem`.
    """
    find = write_verdicts if store else paper_verdicts
    pages = []
    for name, folder in library.papers.items():
        try:
            rows = {p: find(workspace, library, name, p) for p in BEST_FIRST}
            pages.append(_Reader(workspace, library, folder, rows).page())
        except (SpecError, DataError) as error:
            tell(f"{name}: {error}")
    return pages


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one paper; rows: its verdicts at each profile that is shown, best first."""

    workspace: Workspace
    library: Library
    folder: PaperFolder
    rows: Mapping[Profile, Sequence[CheckRow]]

    def page(self) -> PaperPage:
        folder, name = self.folder.folder, self.folder.name
        meta = load_paper(folder)
        mine = (e for e in self.library.experiments.values() if e.paper == name)
        return PaperPage(
            meta=meta,
            sections=tuple(map(self._section, meta.items)),
            codes={experiment.id: experiment_code(experiment) for experiment in mine},
            deviations=tuple(load_deviations(folder)),
            readme=self._placed(folder / "README.md"),
            method=self._placed(self.workspace.root / "docs" / f"{name}.md"),
            verified=verified_text(load_verified(self.workspace, name)),
        )

    def _section(self, item: Item) -> Section:
        workspace, library = self.workspace, self.library
        task = library.tasks.get(f"{self.folder.name}/{item.id}")
        at = [p for p in self.rows if task and is_stored(workspace, task.id, p)]
        # Smoke says nothing of a paper: it changes no page of what is committed.
        is_run = any(profile != "smoke" for profile in at)
        waiting = None if is_run else task
        not_run = verdicts_of(workspace, library, [waiting], DEFAULT) if waiting else []
        reference = load_reference(self.folder.folder, item.id)
        alone = print_without_run(waiting, reference) if waiting else None
        return Section(
            paper=self.folder.name,
            item=item,
            task=task,
            runs=tuple(self._run(task, item, profile, reference) for profile in at if task),
            paper_alone=alone,
            source=self._placed(self.folder.folder / item.file),
            not_run=tuple(not_run),
            waits=_waits(waiting) if waiting else "",
        )

    def _run(self, task: Task, item: Item, profile: Profile, reference: Frame) -> Run:
        try:
            result, problem = load_result(self.workspace, task, profile), ""
        except DataError as error:
            # Relative, or the page would differ from checkout to checkout.
            result, problem = None, str(error).replace(f"{self.workspace.root}/", "")
        path = figure_path(self.workspace, task, profile)
        is_drawn = result is not None and task.figure is not None and is_there(path)
        ledger = load_deviations(self.folder.folder)
        printed = None
        if result is not None and task.layouts:
            printed = print_tables(task, result.table, reference)
        return Run(
            task=task,
            profile=profile,
            rows=tuple(row for row in self.rows[profile] if row.task == task.id),
            deviations=tuple(deviations_of(ledger, word=item.id, profile=profile)),
            result=result,
            printed=printed,
            figure=read_bytes(path) if is_drawn else None,
            problem=problem,
        )

    def _placed(self, file: Path) -> str:
        """Return a file from the top of the checkout; nothing where it is not in there."""
        root, path = self.workspace.root.resolve(), file.resolve()
        is_inside = path.is_file() and root in path.parents
        return path.relative_to(root).as_posix() if is_inside else ""


def _waits(task: Task) -> str:
    try:
        return awaited_text(task.id, awaited_by(task))
    except (SpecError, UsageError):
        return ""  # told where the task stands
