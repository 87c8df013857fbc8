"""Read from disk everything that pages show; they only lay it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from harness.publish.labels import Labels, labels_of
from harness.publish.verdicts import paper_verdicts, verdicts_of, write_verdicts
from harness.registry import BrokenTask, Library, PaperFolder
from harness.run.awaited import awaited_by, awaited_text
from harness.run.verify import load_verified, verified_text
from harness.store.code import experiment_code
from harness.store.meta import ResultMeta
from harness.store.result import figure_path, is_stored, load_result
from harness.store.workspace import Workspace
from harness.untrusted import is_there, read_bytes

if TYPE_CHECKING:
    import pandas as pd

BEST_FIRST: tuple[Profile, ...] = ("paper", "gpu", "cpu", "smoke")
"""The order in which the profiles of one task are shown."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Run:
    """A task in one profile, as stored."""

    profile: Profile
    rows: tuple[CheckRow, ...]
    deviations: tuple[Deviation, ...]
    table: pd.DataFrame | None = None
    meta: ResultMeta | None = None
    csv: bytes | None = None
    """The table's file, as it is committed."""
    figure: bytes | None = None
    """The figure as SVG, where one was drawn."""
    labels: Labels = field(default_factory=Labels)
    """What was run in the place of what heads and parameters name."""
    problem: str = ""
    """Why the stored result cannot be used."""

    @property
    def ran_on(self) -> str:
        """Say once what stood in for what the paper names; nothing where nothing did."""
        here = self.meta.stands_in if self.meta is not None else {}
        return Labels(here).caption("").removeprefix(". ")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Entry:
    """One table or figure of a paper, with its task and runs where there are any."""

    paper: str
    item: Item
    task: Task | None = None
    broken: BrokenTask | None = None
    runs: tuple[Run, ...] = ()
    """Stored profiles, best first."""
    reference: pd.DataFrame | None = None
    source: str = ""
    """The file that declares it, from the top of the checkout; empty where it is not in there."""
    not_run: tuple[CheckRow, ...] = ()
    """The claims' verdicts at `cpu` where no profile is stored."""
    waits: str = ""
    """What it waits for, and what runs it then."""

    @property
    def id(self) -> str:
        return f"{self.paper}/{self.item.id}"

    @property
    def page(self) -> str:
        """The path of its page inside the site; empty where it has none."""
        return f"tasks/{self.id}.html" if self.task or self.broken else ""

    @property
    def rows(self) -> tuple[CheckRow, ...]:
        """The verdicts of its best run, or that it was not run."""
        return self.runs[0].rows if self.runs else self.not_run

    @property
    def state(self) -> str:
        """Say in one line why there is nothing to show, or nothing if there is."""
        if self.broken is not None:
            return f"broken: {self.broken.reason}"
        if self.item.status == "without_data":
            return f"nothing to run: {self.item.reason}"
        if self.item.status == "planned":
            return f"planned: {self.item.reason}"
        if self.task is None:
            return f"broken: {self.item.file} declares no task {self.id}"
        return "" if self.runs else ": ".join(filter(None, ["not run", self.waits]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """A paper with every table and figure it has."""

    meta: PaperMeta
    entries: tuple[Entry, ...]
    codes: Mapping[str, str] = field(default_factory=dict)
    """Per experiment the digest of its code today."""
    deviations: tuple[Deviation, ...] = ()
    """All that it declares, also those of what was not run."""
    verified: str = ""
    """What came of trials that were run again, in a sentence."""
    problem: str = ""
    """Why nothing of it can be shown."""

    @property
    def profiles(self) -> list[Profile]:
        """The profiles in which anything of it is stored, best first."""
        return [p for p in BEST_FIRST if any(r.profile == p for e in self.entries for r in e.runs)]

    def rows(self, profile: Profile) -> list[CheckRow]:
        """Return the verdicts at a profile of all that is stored there."""
        return [row for e in self.entries for r in e.runs if r.profile == profile for row in r.rows]

    def of(self, profile: Profile) -> list[CheckRow]:
        """Return the verdicts at a profile, with those of the items that were not run there."""
        not_run = (row for e in self.entries for row in e.not_run if row.profile == profile)
        return [*self.rows(profile), *not_run]

    def earlier_code(self, profile: Profile) -> str:
        """Say how many of its trials earlier code made; nothing where none."""
        told: dict[str, Counter[str]] = {}
        for entry in self.entries:
            for run in entry.runs:
                if run.profile == profile and run.meta is not None:
                    for name, counts in run.meta.provenance.code.items():
                        told[name] = Counter(counts)
        total = sum(sum(counts.values()) for counts in told.values())
        old = total - sum(counts[self.codes.get(name, "")] for name, counts in told.items())
        return f"Made by earlier code: {old} of {total} trials." if old else ""

    def only(self, profiles: Sequence[Profile]) -> Paper:
        """Return what it is without the runs of other profiles."""

        def kept(entry: Entry) -> Entry:
            runs = tuple(run for run in entry.runs if run.profile in profiles)
            # What is laid out of an entry is kept by it.
            return entry if runs == entry.runs else replace(entry, runs=runs)

        return replace(self, entries=tuple(map(kept, self.entries)))


def load_papers(
    workspace: Workspace, library: Library, profiles: Sequence[Profile], *, store: bool = False
) -> list[Paper]:
    """Return every paper with the stored results of these profiles.

    store: write verdicts that are not those of today's code and tables.

    A damaged result becomes a run with a `problem`; a task that no paper.toml lists is shown
    all the same. A paper that cannot be read has a `problem` and stops no other one.
    """
    chosen = [profile for profile in BEST_FIRST if profile in profiles]
    papers, unread = [], []
    find = write_verdicts if store else paper_verdicts
    for name, folder in library.papers.items():
        try:
            papers.append(_paper(workspace, library, folder, chosen, find))
        except (SpecError, DataError) as error:
            # Relative, or the page would differ from checkout to checkout.
            unread.append(_unreadable(name, str(error).replace(f"{workspace.root}/", "")))
    unread += [
        _unreadable(name, f"{broken.file}: {broken.reason}")
        for name, broken in library.broken.items()
        if "/" not in name and name not in library.papers
    ]
    return papers + unread


def _unreadable(name: str, problem: str) -> Paper:
    # Not validated: nothing is known of it but its name.
    words = dict.fromkeys(("venue", "arxiv", "openreview", "code"), "")
    meta = PaperMeta.model_construct(None, id=name, title=name, authors=[], items=[], **words)
    return Paper(meta=meta, entries=(), problem=problem)


def _paper(
    workspace: Workspace,
    library: Library,
    folder: PaperFolder,
    profiles: Sequence[Profile],
    find: Callable[[Workspace, Library, str, Profile], list[CheckRow]],
) -> Paper:
    meta, deviations = load_paper(folder.folder), load_deviations(folder.folder)
    reference = load_reference(folder.folder)
    rows = {profile: find(workspace, library, meta.id, profile) for profile in profiles}
    entries = []
    for item in _all_items(meta, library):
        task = library.tasks.get(f"{meta.id}/{item.id}")
        ledger = {p: tuple(deviations_of(deviations, word=item.id, profile=p)) for p in profiles}
        runs = _runs(workspace, library, task, ledger, rows) if task else ()
        # Smoke says nothing of a paper: it changes no page of what is committed.
        is_run = any(run.profile != "smoke" for run in runs)
        not_run = verdicts_of(library, workspace, [(task, "cpu")] if task and not is_run else [])
        entries.append(
            Entry(
                paper=meta.id,
                item=item,
                task=task,
                broken=None if task else _broken(library, meta.id, item),
                runs=runs,
                reference=reference[reference["task"] == item.id].reset_index(drop=True),
                source=_source(workspace, folder, item),
                not_run=tuple(not_run),
                waits=_waits(task) if task is not None and not is_run else "",
            )
        )
    mine = (e for e in library.experiments.values() if e.paper == meta.id)
    return Paper(
        meta=meta,
        entries=tuple(entries),
        codes={experiment.id: experiment_code(experiment) for experiment in mine},
        deviations=tuple(deviations),
        verified=verified_text(load_verified(workspace, meta.id)),
    )


def _waits(task: Task) -> str:
    try:
        return awaited_text(task.id, awaited_by(task))
    except (SpecError, UsageError):
        return ""  # told where the task stands


def _source(workspace: Workspace, folder: PaperFolder, item: Item) -> str:
    root, path = workspace.root.resolve(), (folder.folder / item.file).resolve()
    return path.relative_to(root).as_posix() if path.is_file() and root in path.parents else ""


def _all_items(meta: PaperMeta, library: Library) -> list[Item]:
    """Return the listed items, then the broken files that nobody listed."""
    items = list(meta.items)
    words = {item.id for item in items}
    files = {item.file for item in items}
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


def _runs(
    workspace: Workspace,
    library: Library,
    task: Task,
    deviations: Mapping[Profile, tuple[Deviation, ...]],
    rows: Mapping[Profile, Sequence[CheckRow]],
) -> tuple[Run, ...]:
    runs = []
    for profile, ledger in deviations.items():
        if not is_stored(workspace, task, profile):
            continue
        own = tuple(row for row in rows[profile] if row.task == task.id)
        try:
            result = load_result(workspace, task, profile)
            path = figure_path(workspace, task, profile)
            figure = read_bytes(path) if is_there(path) else None
        except DataError as error:
            problem = str(error).replace(f"{workspace.root}/", "")
            runs.append(Run(profile=profile, rows=own, deviations=ledger, problem=problem))
            continue
        assert result is not None  # it is stored
        runs.append(
            Run(
                profile=profile,
                rows=own,
                deviations=ledger,
                table=result.table,
                csv=result.csv.encode(),
                meta=result.meta,
                figure=figure,
                labels=labels_of(task, profile, library.titles[task.id], workspace.overrides),
            )
        )
    return tuple(runs)
