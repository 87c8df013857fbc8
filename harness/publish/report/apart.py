"""What a site is of that is not all of what is committed: a variant, or one cohort."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.declare.profiles import PROFILES
from harness.declare.task import Task
from harness.publish.report.load import Entry, Paper, Run, sources_of
from harness.store.trial import Trial, cohorts_of
from harness.store.meta import ResultMeta
from harness.store.result import figure_path, is_stored, load_result, trials_of
from harness.store.workspace import Workspace
from harness.untrusted import is_there, read_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Apart:
    """What sets a site apart from the committed one; by default nothing."""

    label: str = ""
    head: str = ""
    """What every page of it opens with."""
    options: str = ""
    """The options of a command that make or show what is on it, with a blank before each."""
    top: str = "../"
    """From its first page to the top of the checkout."""
    root: Path | None = None
    """That checkout, where it may be one without pages of papers."""

    def linked(self, page: str) -> str:
        """Return a link to a paper's page, nothing where that was never written."""
        return f"{self.top}{page}" if self.root is None or is_there(self.root / page) else ""


COMMITTED = Apart()


def apart_from_committed(workspace: Workspace, cohort: str | None) -> tuple[Path, Apart]:
    """Return where the site of a variant or of one cohort lies, and what it says of itself."""
    overrides = workspace.overrides
    site = workspace.site if overrides or cohort is None else workspace.outputs / cohort / "site"
    label = overrides.label or cohort or ""
    said = "not what is committed" if overrides else "no other seeds are shown here"
    return site, Apart(
        label=label,
        head=f"{label[:1].upper()}{label[1:]}: {said}." if label else "",
        options=overrides.options + (f" --cohort {cohort}" if cohort else ""),
        top=f"{os.path.relpath(workspace.root, site)}/",
        root=workspace.root if label else None,
    )


def has_run(workspace: Workspace, task: Task, cohort: str | None) -> bool:
    """Return whether a task may have a result of a variant, or of one cohort."""
    profiles = [p for p in PROFILES if is_stored(workspace, task, p)]
    overrides = workspace.overrides
    return any(cohort in (None, *cohorts_of(task, profile, overrides)) for profile in profiles)


def run_of_it(workspace: Workspace, papers: Sequence[Paper], cohort: str | None) -> list[Paper]:
    """Return the papers with what a variant, or one cohort, has a result of, and no more."""
    found = []
    for paper in papers:
        narrowed = [_narrowed(workspace, entry, cohort) for entry in paper.entries]
        entries = tuple(entry for entry in narrowed if entry.runs)
        if entries:
            tasks = [entry.task for entry in entries if entry.task is not None]
            sources = {p: sources_of(workspace, tasks, p, cohort) for p in paper.sources}
            only = replace(paper, entries=entries, sources=sources, withdrawn=(), waiting={})
            found.append(only)
    return found


def _narrowed(workspace: Workspace, entry: Entry, cohort: str | None) -> Entry:
    if cohort is None:
        return entry
    runs = [_of_cohort(workspace, entry, run, cohort) for run in entry.runs]
    return replace(entry, runs=tuple(run for run in runs if run is not None))


def _of_cohort(workspace: Workspace, entry: Entry, run: Run, cohort: str) -> Run | None:
    """Return a run with one cohort alone; None where that was not run."""
    assert entry.task is not None
    if run.problem:
        return run
    result = load_result(workspace, entry.task, run.profile)
    if result is None or cohort not in result.tables:
        return None
    trials = trials_of(entry.task, run.profile, workspace.overrides, cohort=cohort)
    only, path = result.only(cohort), figure_path(workspace, entry.task, run.profile, cohort)
    return replace(
        run,
        rows=tuple(row for row in run.rows if row.cohort == cohort),
        table=only.table,
        csv=only.csv.encode(),
        meta=_with_seeds(only.meta, trials),
        figure=read_bytes(path) if is_there(path) else None,
        sources=sources_of(workspace, [entry.task], run.profile, cohort),
    )


def _with_seeds(meta: ResultMeta, trials: Sequence[Trial]) -> ResultMeta:
    """Return a result's JSON with the seeds of some of its trials alone."""
    theirs = {trial.params.get("seed") for trial in trials}
    seeds = [seed for seed in meta.provenance.seeds if seed in theirs]
    provenance = meta.provenance.model_copy(update={"seeds": seeds})
    return meta.model_copy(update={"provenance": provenance})
