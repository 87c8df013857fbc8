"""What records say of themselves, read without their rows: seals, code, and their line's digest."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.declare.cohorts import FIRST
from harness.declare.experiment import Experiment
from harness.declare.params import Scalar
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.errors import DataError
from harness.provenance.before import code_of, load_before
from harness.provenance.code import experiment_code
from harness.provenance.seals import keys_digest, seal, seal_name
from harness.run.trial import cohorts_of, trials_behind
from harness.store.meta import ResultMeta
from harness.store.record import RESTORE, line_digest, read_body, read_lines
from harness.store.result import KEY_DIGITS, trials_of
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from harness.untrusted import Stamp, read_text, stamp


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One trial's record, less its rows."""

    experiment: str
    line: str
    """Digest of the record's line."""
    seals: Mapping[str, Any]
    first_seals: Mapping[str, Any]
    """The seals of the first result of the trial: its own where it was never run again."""
    code: str | None
    """Today's digest of the code that it ran; None where nothing tells it."""


def evidence_of(
    workspace: Workspace,
    task: Task,
    profile: Profile,
    meta: ResultMeta,
) -> dict[str, Evidence]:
    """Return, by key, the records behind a task's stored result and its planned trials.

    For a committed profile the packs tell it, else the working copy.
    Raises DataError for a pack that cannot be read.
    """
    if workspace.is_committed(profile):
        packs = (_pack_of(workspace, experiment, profile) for experiment in task.reads)
        return {key: evidence for pack in packs for key, evidence in pack.items()}
    store = RecordStore(workspace)
    found = record_evidence(store, task, profile)
    starts = {key[:KEY_DIGITS] for key in found}
    for name, lines in meta.lines.items():
        for start in lines.keys() - starts:
            # The grid was another one when the result was written.
            for path in (workspace.runs / "records" / name).glob(f"{start}*.json"):
                line = read_text(path).removesuffix("\n")
                body = read_body(line, where=str(path))
                found[body["key"]] = _from_body(workspace.root, body, line_digest(line))
    return found


def record_evidence(
    store: RecordStore,
    task: Task,
    profile: Profile,
) -> dict[str, Evidence]:
    """Return, by key, the results of the working copy behind a task, of all its cohorts."""
    overrides = store.workspace.overrides
    names = cohorts_of(task, profile, overrides)
    trials = (t for name in names for t in trials_of(task, profile, overrides, cohort=name))
    found: dict[str, Evidence] = {}
    for trial in trials:
        record = None if trial.key in found else store.result(trial)
        if record is not None:
            line = line_digest(record.to_line())
            found[trial.key] = _from_body(store.workspace.root, record.model_dump(), line)
    return found


def _pack_of(workspace: Workspace, experiment: Experiment, profile: Profile) -> dict[str, Evidence]:
    path = RecordStore(workspace).pack_path(experiment.id, profile)
    changed = stamp(path)
    return {} if changed is None else _packed(workspace.root, path, changed)


@functools.lru_cache(maxsize=256)
def _packed(root: Path, path: Path, changed: Stamp) -> dict[str, Evidence]:
    return {body["key"]: _from_body(root, body, line) for line, body in read_lines(path)}


def _from_body(root: Path, body: Mapping[str, Any], line: str) -> Evidence:
    experiment = str(body["experiment"])
    before = load_before(root, experiment.split("/")[0])
    first = body.get("first_seals")
    return Evidence(
        experiment=experiment,
        line=line,
        seals=body["seals"],
        first_seals=body["seals"] if first is None else first,
        code=code_of(body, before),
    )


def names_sealed(workspace: Workspace, experiment: Experiment, profile: Profile) -> set[str]:
    """Return the names of all seals in an experiment's committed records."""
    found = _pack_of(workspace, experiment, profile)
    return {name for e in found.values() for seals in (e.seals, e.first_seals) for name in seals}


def uncommitted(workspace: Workspace, task: Task, profile: Profile) -> dict[str, str]:
    """Return the trials behind a task that have no committed result: key to experiment.

    Raises DataError for a pack that cannot be read, and what its declarations raise.
    """
    trials = trials_behind([task], profile)
    packs = {e: _pack_of(workspace, e, profile) for e in {t.experiment for t in trials}}
    return {t.key: t.experiment.id for t in trials if t.key not in packs[t.experiment]}


def check_lines(path: Path, meta: ResultMeta, found: Mapping[str, Evidence]) -> None:
    """Raise DataError unless the records are those that a stored result was built from."""
    if sum(map(len, meta.lines.values())) != meta.num_records:
        raise DataError(f"{path.with_suffix('.json')} does not name all its records: {RESTORE}")
    by_start = {(e.experiment, key[:KEY_DIGITS]): e for key, e in found.items()}
    for experiment, lines in meta.lines.items():
        for start, line in lines.items():
            record = by_start.get((experiment, start))
            if record is None or record.line != line:
                what = "is missing" if record is None else "was changed"
                raise DataError(
                    f"{path} rests on the record {start} of {experiment}, which {what} since: "
                    "restore the records with git checkout or run the task again"
                )


def num_stale(experiments: Mapping[str, Experiment], found: Mapping[str, Evidence]) -> int:
    """Return how many records come from older code than today's."""
    now = {name: experiment_code(experiment) for name, experiment in experiments.items()}
    return sum(e.code != now[e.experiment] for e in found.values() if e.experiment in now)


def seals_of(
    tasks: Iterable[Task], overrides: Mapping[str, Scalar] | None = None
) -> dict[str, dict[str, Any]]:
    """Return what a record takes before its trial starts: the seals of all claims on it."""
    found = {}
    for task in tasks:
        every = dict.fromkeys(name for profile in PROFILES for name in cohorts_of(task, profile))
        for cohort in [FIRST] if overrides else every:
            keys = planned_keys(task, cohort=cohort)
            for claim in task.claims:
                made = seal(task, claim, keys, cohort=cohort)
                found[seal_name(task.id, claim.id, cohort)] = made.model_dump(mode="json")
    return dict(sorted(found.items()))


def planned_keys(task: Task, *, cohort: str = FIRST) -> dict[str, str]:
    """Return, for each profile in which a task has a cohort, a digest of its trials' keys."""
    return {
        profile: keys_digest(t.key for t in trials_of(task, profile, cohort=cohort))
        for profile in PROFILES
        if cohort in cohorts_of(task, profile)
    }
