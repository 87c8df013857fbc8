"""Reads from disk what a paper's page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.declare.papers import (
    Deviation,
    Item,
    PaperMeta,
    deviations_of,
    load_deviations,
    load_paper,
)
from harness.declare.profiles import Profile
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.errors import DataError, SpecError, UsageError
from harness.publish.check_row import CheckRow
from harness.publish.report.page import BEST_FIRST, PaperPage, Run, Section
from harness.publish.verdicts import paper_verdicts, verdicts_of, write_verdicts
from harness.registry import BrokenTask, Library, PaperFolder
from harness.run.awaited import awaited_by, awaited_text
from harness.run.verify import load_verified, verified_text
from harness.store.code import experiment_code
from harness.store.result import figure_path, is_stored, load_result
from harness.store.workspace import Workspace
from harness.untrusted import is_there, read_bytes

if TYPE_CHECKING:
    import pandas as pd

DEFAULT: Profile = "cpu"
"""The profile that an item is shown at where nobody has run it."""


def load_pages(
    workspace: Workspace, library: Library, profiles: Sequence[Profile], *, store: bool = False
) -> list[PaperPage]:
    """Return every paper with the stored results of these profiles.

    store: write verdicts that are not those of today's code and tables.

    A damaged result becomes a run with a `problem`; a task that no paper.toml lists is shown
    all the same. A paper that cannot be read has a `problem` and stops no other one.
    """
    chosen = [profile for profile in BEST_FIRST if profile in profiles]
    pages, unread = [], []
    find = write_verdicts if store else paper_verdicts
    for name, folder in library.papers.items():
        try:
            pages.append(_page(workspace, library, folder, chosen, find))
        except (SpecError, DataError) as error:
            # Relative, or the page would differ from checkout to checkout.
            unread.append(_unreadable(name, str(error).replace(f"{workspace.root}/", "")))
    unread += [
        _unreadable(name, f"{broken.file}: {broken.reason}")
        for name, broken in library.broken.items()
        if "/" not in name and name not in library.papers
    ]
    return pages + unread


def _unreadable(name: str, problem: str) -> PaperPage:
    # Not validated: nothing is known of it but its name.
    words = dict.fromkeys(("venue", "arxiv", "openreview", "code", "known_as", "found"), "")
    lists: dict[str, list[str]] = {"authors": [], "items": [], "headline": []}
    meta = PaperMeta.model_construct(None, id=name, title=name, limits="", **words, **lists)
    return PaperPage(meta=meta, sections=(), problem=problem)


def _page(
    workspace: Workspace,
    library: Library,
    folder: PaperFolder,
    profiles: Sequence[Profile],
    find: Callable[[Workspace, Library, str, Profile], list[CheckRow]],
) -> PaperPage:
    meta, deviations = load_paper(folder.folder), load_deviations(folder.folder)
    reference = load_reference(folder.folder)
    rows = {profile: find(workspace, library, meta.id, profile) for profile in profiles}
    sections = [
        _section(workspace, library, folder, item, reference, deviations, rows)
        for item in _all_items(meta, library)
    ]
    mine = (e for e in library.experiments.values() if e.paper == meta.id)
    return PaperPage(
        meta=meta,
        sections=tuple(sections),
        codes={experiment.id: experiment_code(experiment) for experiment in mine},
        deviations=tuple(deviations),
        readme=_source(workspace.root.resolve(), (folder.folder / "README.md").resolve()),
        verified=verified_text(load_verified(workspace, meta.id)),
    )


def _section(
    workspace: Workspace,
    library: Library,
    folder: PaperFolder,
    item: Item,
    reference: pd.DataFrame,
    deviations: Sequence[Deviation],
    rows: Mapping[Profile, Sequence[CheckRow]],
) -> Section:
    task = library.tasks.get(f"{folder.name}/{item.id}")
    known = reference[reference["task"] == item.id].reset_index(drop=True)
    runs = []
    for profile, found in rows.items() if task else ():
        assert task is not None
        if is_stored(workspace, task.id, profile):
            mine = tuple(row for row in found if row.task == task.id)
            ledger = tuple(deviations_of(deviations, word=item.id, profile=profile))
            runs.append(_run(workspace, task, item, profile, mine, ledger, known))
    # Smoke says nothing of a paper: it changes no page of what is committed.
    is_run = any(run.profile != "smoke" for run in runs)
    waiting = [(task.id, DEFAULT)] if task and not is_run else []
    not_run = verdicts_of(workspace, library.papers, waiting, lambda _: library)
    return Section(
        paper=folder.name,
        item=item,
        task=task,
        broken=None if task else _broken(library, folder.name, item),
        runs=tuple(runs),
        reference=known,
        source=_source(workspace.root.resolve(), (folder.folder / item.file).resolve()),
        not_run=tuple(not_run),
        waits=_waits(task) if task is not None and not is_run else "",
    )


def _run(
    workspace: Workspace,
    task: Task,
    item: Item,
    profile: Profile,
    rows: tuple[CheckRow, ...],
    deviations: tuple[Deviation, ...],
    reference: pd.DataFrame,
) -> Run:
    try:
        result, problem = load_result(workspace, task, profile), ""
    except DataError as error:
        result, problem = None, str(error).replace(f"{workspace.root}/", "")
    path = figure_path(workspace, task, profile)
    is_drawn = result is not None and task.figure is not None and is_there(path)
    return Run(
        task=task,
        profile=profile,
        rows=rows,
        deviations=deviations,
        result=result,
        reference=reference,
        title=item.title,
        figure=read_bytes(path) if is_drawn else None,
        problem=problem,
    )


def _waits(task: Task) -> str:
    try:
        return awaited_text(task.id, awaited_by(task))
    except (SpecError, UsageError):
        return ""  # told where the task stands


def _source(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_file() and root in path.parents else ""


def _all_items(meta: PaperMeta, library: Library) -> list[Item]:
    """Return the listed items, then the broken files that nobody listed."""
    items = list(meta.items)
    words, files = {item.id for item in items}, {item.file for item in items}
    for name, broken in sorted(library.broken.items()):
        paper, _, word = name.partition("/")
        if paper == meta.id and word and word not in words and broken.file not in files:
            # Not validated: the word is only a guess from the name of a file that failed.
            guess = {"id": word, "title": broken.file, "file": broken.file, "reason": ""}
            items.append(Item.model_construct(None, status="task", **guess))
    return items


def _broken(library: Library, paper: str, item: Item) -> BrokenTask | None:
    """Return the broken file that should have declared an item; one file may hold several."""
    named = library.broken.get(f"{paper}/{item.id}")
    if named is not None or not item.file:
        return named
    if paper in library.broken:
        return library.broken[paper]
    mine = (entry for name, entry in library.broken.items() if name.split("/")[0] == paper)
    return next((entry for entry in mine if entry.file == item.file), None)
