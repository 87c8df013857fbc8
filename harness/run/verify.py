"""Committed trials that are run again, in a folder of their own, and how they agree.

One line per paper and processor is kept in `results/<paper>/verified.jsonl`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, ValidationError

from harness.atomic import alone_in, write_text
from harness.canonical import canonical_json
from harness.declare.experiment import Experiment, Status
from harness.declare.profiles import Profile
from harness.errors import DataError
from harness.measure.machine import cpu_name
from harness.registry import Library
from harness.store.record import Record
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, read_text

Word = Literal["bit", "close", "differs", "not run"]
"""`bit`: every cell is equal; `close`: floats within 1e-4, the rest equal; else `differs`.
`not run`: it cannot run here."""


class Verified(Strict):
    """What came of a paper's trials that were run again on one kind of processor."""

    cpu: str
    num_trials: int = Field(ge=0)
    """Runs; a trial that was run twice counts twice."""
    num_agree: int = Field(ge=0)
    differ: list[str] = Field(default_factory=list)
    """The addresses of those that differ."""
    commit: str
    """The last one by which any was run."""
    at: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one trial that was run again."""

    experiment: str
    trial: str
    """Its address, as a reader knows it."""
    outcome: Word
    reason: str = ""
    then: str = ""
    """The processor of the committed record."""

    @property
    def agrees(self) -> bool:
        return self.outcome in ("bit", "close")


def verified_path(workspace: Workspace, paper: str) -> Path:
    return workspace.root / "results" / paper / "verified.jsonl"


def load_verified(workspace: Workspace, paper: str) -> list[Verified]:
    """Return what is kept of a paper, a line per processor. Raises DataError for a damaged file."""
    path = verified_path(workspace, paper)
    try:
        return [Verified.model_validate_json(line) for line in read_text(path).splitlines()]
    except FileNotFoundError:
        return []
    except (UnreadableError, ValidationError) as error:
        why = explain(error) if isinstance(error, ValidationError) else error
        raise DataError(f"{path} is damaged ({why}): restore it with git checkout") from error


def verified_text(found: Sequence[Verified]) -> str:
    """Return what a page says of trials that were run again; empty where none was.

    >>> line = Verified(cpu="A", num_trials=3, num_agree=3, commit="abc", at="")
    >>> verified_text([line, line.model_copy(update={"cpu": "B"})])
    'Run again on A and B: 6 of 6 trials agree.'
    """
    total, agree = (sum(getattr(f, n) for f in found) for n in ("num_trials", "num_agree"))
    where = " and ".join(line.cpu for line in found)
    return f"Run again on {where}: {agree} of {total} trials agree." if total else ""


def keep(
    workspace: Workspace, paper: str, outcomes: Iterable[Outcome], *, cpu: str, commit: str
) -> None:
    """Add outcomes to the line of this processor. Raises RunError where it cannot be written."""
    ran = [outcome for outcome in outcomes if outcome.outcome != "not run"]
    if not ran:
        return
    path = verified_path(workspace, paper)
    with alone_in(path.parent):
        lines = {line.cpu: line for line in load_verified(workspace, paper)}
        old = lines.get(cpu)
        differ = {*(old.differ if old else ()), *(each.trial for each in ran if not each.agrees)}
        lines[cpu] = Verified(
            cpu=cpu,
            num_trials=len(ran) + (old.num_trials if old else 0),
            num_agree=sum(each.agrees for each in ran) + (old.num_agree if old else 0),
            differ=sorted(differ),
            commit=commit,
            at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        )
        text = [canonical_json(line.model_dump(mode="json")) for _, line in sorted(lines.items())]
        write_text(path, "".join(f"{line}\n" for line in text))


class Drawn(NamedTuple):
    """A committed record, and its trial as it is declared now."""

    trial: Trial
    record: Record


def draw(keys: Iterable[str], num: int, *, commit: str) -> list[str]:
    """Return `num` of the keys, or all where there are fewer: drawn by the commit, not by us."""
    return sorted(keys, key=lambda key: hashlib.sha256(f"{commit} {key}".encode()).digest())[:num]


def draw_trials(
    workspace: Workspace, experiment: Experiment, profile: Profile, num: int, *, commit: str
) -> list[Drawn]:
    """Return `num` of an experiment's committed trials, or all where there are fewer.

    Those whose version, data or upstream trials are no longer the declared ones do not count.
    """
    grid = {trial.key: trial for trial in grid_of(experiment, profile)}
    found = {}
    for record in RecordStore(workspace).packed(experiment.id, profile):
        # Some that others start from lie outside the grid.
        trial = grid.get(record.key) or Trial(experiment, dict(record.params), profile)
        if trial.key == record.key:
            found[record.key] = Drawn(trial, record)
    return [found[key] for key in draw(found, num, commit=commit)]


def compare_drawn(drawn: Iterable[Drawn], store: RecordStore, library: Library) -> list[Outcome]:
    """Return what came of trials that were run again into a store, less those that did not end."""
    outcomes = []
    for trial, record in drawn:
        new = store.read(trial)
        if isinstance(new, Record):
            columns = [c for task in library.tasks_of(trial.experiment) for c in task.table.columns]
            measured = {column.name for column in columns if column.role == "measurement"}
            word, reason = compare(record, new, measured=measured)
            then = cpu_name(record.provenance.machine)
            outcomes.append(Outcome(trial.experiment.id, trial.name, word, reason, then))
    return outcomes


def compare(old: Record, new: Record, *, measured: Collection[str] = ()) -> tuple[Word, str]:
    """Return how the record of a trial that was run again agrees with the committed one, and why.

    measured: columns to leave out.
    """
    if new.status == Status.SKIPPED:
        return "not run", new.note
    if new.status != old.status:
        return "differs", f"{old.status} then, {new.status} now"
    if len(old.rows) != len(new.rows):
        return "differs", f"{len(old.rows)} rows then, {len(new.rows)} now"
    word: Word = "bit"
    for number, (before, after) in enumerate(zip(old.rows, new.rows, strict=True)):
        for name in sorted((before.keys() | after.keys()) - set(measured)):
            left, right = before.get(name, "absent"), after.get(name, "absent")
            if type(left) is type(right) and left == right:
                continue
            if not (isinstance(left, float) and isinstance(right, float) and _close(left, right)):
                return "differs", f"row {number} {name}: {left!r:.40} then, {right!r:.40} now"
            word = "close"
    return word, ""


def _close(old: float, new: float) -> bool:
    """Say whether two numbers agree.

    Another processor adds in another order, and leaves another zero; a changed method changes more.
    """
    return isclose(old, new, rel_tol=1e-4, abs_tol=1e-9)
