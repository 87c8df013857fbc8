"""Read from disk everything that the report and RESULTS.md show; they only lay it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from harness.declare.profiles import PROFILES, Profile
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.errors import DataError, SpecError, UsageError
from harness.measure.machine import cpu_name
from harness.provenance.before import load_before
from harness.provenance.code import experiment_code
from harness.provenance.verify import load_verifications, verified_text
from harness.publish.check_row import CheckRow
from harness.publish.evidence import Evidence, evidence_of, num_stale, uncommitted
from harness.publish.judge import check_stored, failed_rows, judge
from harness.publish.labels import Labels, labels_of
from harness.publish.power import NeededBy, all_needed
from harness.publish.withdrawn import withdrawn_rows
from harness.registry import BrokenTask, Library, PaperFolder
from harness.run.awaited import RUN_AT, Awaited, awaited_by, awaited_text
from harness.store.meta import ResultMeta
from harness.store.result import KEY_DIGITS, figure_path, load_result, trials_of
from harness.store.workspace import Workspace
from harness.untrusted import is_there, read_bytes

if TYPE_CHECKING:
    import pandas as pd

BEST_FIRST: tuple[Profile, ...] = ("paper", "gpu", "cpu", "smoke")
"""The order in which the profiles of one task are shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Where the records behind a result come from."""

    num_trials: int = 0
    num_stale: int = 0
    """How many of them ran older code than today's."""
    cpus: tuple[str, ...] = ()
    """The kinds of processor that they ran on."""
    verified: str = ""
    """What came of those that were run again, in words."""


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
    sources: Sources = field(default_factory=Sources)
    labels: Labels = field(default_factory=Labels)
    """What was run in the place of what the title, and so every claim, names."""
    needed: NeededBy = field(default_factory=dict)
    """What would decide those claims that are undecided."""
    problem: str = ""
    """Why the stored result cannot be used."""


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
    awaited: Awaited = ""
    """What it waits for that few machines have."""

    @property
    def id(self) -> str:
        return f"{self.paper}/{self.item.id}"

    def only(self, profiles: Sequence[Profile]) -> Entry:
        """Return what it is without the runs of other profiles: itself, where there are none."""
        kept = tuple(run for run in self.runs if run.profile in profiles)
        return self if kept == self.runs else replace(self, runs=kept)

    @property
    def page(self) -> str:
        """The path of its page inside the site; empty where it has none."""
        return f"tasks/{self.id}.html" if self.task or self.broken else ""

    @property
    def not_run(self) -> tuple[CheckRow, ...]:
        """The claims' verdicts at `cpu` where no profile is stored."""
        return () if self.runs else self.rows("cpu")

    def rows(self, profile: Profile) -> tuple[CheckRow, ...]:
        """Return the claims' verdicts at a profile; where it was not run, they say so."""
        for run in self.runs:
            if run.profile == profile:
                return run.rows
        if self.task is None:
            return ()
        return tuple(judge(self.task, None, profile, self.reference).rows)

    @property
    def seed(self) -> str:
        """What counts as a seed, to stand after "A seed is"; nothing where there are none."""
        return self.task.table.seed_doc if self.task is not None else ""

    @property
    def title(self) -> str:
        """The item's title, with what the best run of it took in the place of what it names."""
        return self.runs[0].labels.text(self.item.title) if self.runs else self.item.title

    @property
    def to_run(self) -> Labels:
        """What would stand in at `cpu`, for claims of an item that was not run."""
        return labels_of(self.task, "cpu", self.item.title) if self.task else Labels()

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
        return "" if self.runs else ": ".join(filter(None, ["not run in any profile", self.waits]))

    @property
    def waits(self) -> str:
        """Say what it waits for, and what runs it then; nothing if it does not wait."""
        is_there = any(run.profile == RUN_AT.get(self.awaited) for run in self.runs)
        return "" if is_there else awaited_text(self.id, self.awaited)


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """A paper with every table and figure it has."""

    meta: PaperMeta
    entries: tuple[Entry, ...]
    sources: Mapping[Profile, Sources] = field(default_factory=dict)
    """Per profile, of every trial that any of its items shows."""
    deviations: tuple[Deviation, ...] = ()
    """All that it declares, also those of what was not run."""
    withdrawn: tuple[CheckRow, ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)
    """Trials at `gpu` that have no committed result, key to experiment: they wait for a card."""
    problem: str = ""
    """Why nothing of it can be shown."""

    @property
    def is_published(self) -> bool:
        """Whether it is a paper: a collection of ours, as that of kernels, has no authors."""
        return bool(self.meta.authors or self.problem)

    def awaits_card(self, entry: Entry) -> bool:
        """Whether any trial at `gpu` of an item of its has no committed result."""
        reads = entry.task.reads if entry.task else ()
        return any(experiment.id in self.waiting.values() for experiment in reads)

    def rows(self, profile: Profile) -> list[CheckRow]:
        """Return the verdicts of every item at a profile, also of those not run there."""
        return [row for entry in self.entries for row in entry.rows(profile)]

    def only(self, profiles: Sequence[Profile]) -> Paper:
        """Return what it is without the runs of other profiles."""
        return replace(
            self,
            entries=tuple(entry.only(profiles) for entry in self.entries),
            sources={p: sources for p, sources in self.sources.items() if p in profiles},
            withdrawn=tuple(row for row in self.withdrawn if row.profile in profiles),
        )


def load_papers(workspace: Workspace, library: Library, profiles: Sequence[Profile]) -> list[Paper]:
    """Return every paper with the stored results of these profiles.

    A damaged result becomes a run with a `problem`; a task that no paper.toml lists is shown
    all the same. A paper that cannot be read has a `problem` and stops no other one.
    """
    chosen = [profile for profile in BEST_FIRST if profile in profiles]
    problems = problems_of(workspace, library)
    papers = [
        _paper(workspace, library, folder, chosen)
        for name, folder in library.papers.items()
        if name not in problems
    ]
    problems |= {
        name: f"{broken.file}: {broken.reason}"
        for name, broken in library.broken.items()
        if "/" not in name and name not in library.papers
    }
    return papers + [_unreadable(name, problem) for name, problem in problems.items()]


def problems_of(workspace: Workspace, library: Library) -> dict[str, str]:
    """Return the papers of which what every page rests on cannot be read, and why."""
    found = {}
    for name, paper in library.papers.items():
        try:
            load_deviations(paper.folder)
            load_reference(paper.folder)
            load_before(workspace.root, name)
            for experiment in library.experiments.values():
                if experiment.paper == name:
                    experiment_code(experiment)
                    for profile in PROFILES:
                        load_verifications(workspace, experiment.id, profile)
        except (SpecError, DataError) as error:
            # Relative, or the page would differ from checkout to checkout.
            found[name] = str(error).replace(f"{workspace.root}/", "")
    return found


def _unreadable(name: str, problem: str) -> Paper:
    # Not validated: nothing is known of it but its name.
    words = dict.fromkeys(("venue", "arxiv", "openreview", "code"), "")
    meta = PaperMeta.model_construct(
        None, id=name, title=name, authors=[], items=[], withdrawn=[], **words
    )
    return Paper(meta=meta, entries=(), problem=problem)


def _paper(
    workspace: Workspace, library: Library, folder: PaperFolder, profiles: Sequence[Profile]
) -> Paper:
    meta, deviations = load_paper(folder.folder), load_deviations(folder.folder)
    reference = load_reference(folder.folder)
    entries = []
    for item in _all_items(meta, library):
        name = f"{meta.id}/{item.id}"
        task = library.tasks.get(name)
        rows = reference[reference["task"] == item.id].reset_index(drop=True)
        ledger = {p: tuple(deviations_of(deviations, word=item.id, profile=p)) for p in profiles}
        entries.append(
            Entry(
                paper=meta.id,
                item=item,
                task=task,
                broken=None if task else _broken(library, meta.id, item),
                runs=_runs(workspace, task, item.title, profiles, rows, ledger) if task else (),
                reference=rows,
                source=_source(workspace, folder, item),
                awaited=_awaited(task) if task is not None else "",
            )
        )
    tasks = [entry.task for entry in entries if entry.task is not None]
    return Paper(
        meta=meta,
        entries=tuple(entries),
        sources={p: sources_of(workspace, tasks, p) for p in profiles},
        deviations=tuple(deviations),
        withdrawn=tuple(
            row for p in profiles for row in withdrawn_rows(workspace, library, meta.id, p)
        ),
        waiting=_waiting(workspace, tasks),
    )


def _waiting(workspace: Workspace, tasks: Sequence[Task]) -> dict[str, str]:
    found: dict[str, str] = {}
    for task in tasks:
        try:
            found |= uncommitted(workspace, task, "gpu")
        except (SpecError, DataError, UsageError):
            continue  # told where the task stands
    return found


def _awaited(task: Task) -> Awaited:
    try:
        return awaited_by(task)
    except (SpecError, UsageError):
        return ""  # told where the task stands


def sources_of(
    workspace: Workspace, tasks: Sequence[Task], profile: Profile, cohort: str | None = None
) -> Sources:
    """Count the trials behind some stored results, or behind one cohort of them, each once."""
    found: dict[str, Evidence] = {}
    cpus: set[str] = set()
    for task in tasks:
        try:
            result = load_result(workspace, task, profile)
            if result is not None:
                evidence = evidence_of(workspace, task, profile, result.meta)
                cpus |= {cpu_name(machine) for machine in result.meta.provenance.machines}
                named = {key for lines in result.meta.lines.values() for key in lines}
                if cohort is not None:
                    trials = trials_of(task, profile, workspace.overrides, cohort=cohort)
                    named &= {trial.key[:KEY_DIGITS] for trial in trials}
                found |= {k: e for k, e in evidence.items() if k[:KEY_DIGITS] in named}
        except DataError:
            continue  # told where the task stands
    experiments = {e.id: e for task in tasks for e in task.reads}
    every = (v for name in experiments for v in load_verifications(workspace, name, profile))
    again = [outcome for outcome in every if outcome.key in found]
    return Sources(
        num_trials=len(found),
        num_stale=num_stale(experiments, found),
        cpus=tuple(sorted(cpus)),
        verified=verified_text(again),
    )


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
    task: Task,
    title: str,
    profiles: Sequence[Profile],
    reference: pd.DataFrame,
    deviations: dict[Profile, tuple[Deviation, ...]],
) -> tuple[Run, ...]:
    runs = []
    for profile in profiles:
        ledger = deviations[profile]
        try:
            result = load_result(workspace, task, profile)
            if result is None:
                continue
            rows = check_stored(workspace, task, profile, reference)
            path = figure_path(workspace, task, profile)
            figure = read_bytes(path) if is_there(path) else None
        except DataError as error:
            # Relative, or the page would differ from checkout to checkout.
            problem = str(error).replace(f"{workspace.root}/", "")
            failed = tuple(failed_rows(task, profile, DataError(problem)))
            runs.append(Run(profile=profile, rows=failed, deviations=ledger, problem=problem))
            continue
        runs.append(
            Run(
                profile=profile,
                rows=tuple(rows),
                deviations=ledger,
                table=result.table,
                csv=result.csv.encode(),
                meta=result.meta,
                figure=figure,
                sources=sources_of(workspace, [task], profile),
                labels=labels_of(task, profile, title, workspace.overrides),
                needed=all_needed(task, rows, result),
            )
        )
    return tuple(runs)
