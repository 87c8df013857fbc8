"""Trials that are run again: which are drawn, and what came of them, kept and told.

Nothing here runs a trial. Outcomes lie in one committed file per experiment and profile, a line
each, and no line is ever taken away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from harness.declare.experiment import Experiment
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import DataError
from harness.measure.machine import cpu_name
from harness.provenance.agreement import OutcomeWord
from harness.provenance.before import Before, code_of
from harness.canonical import canonical_json
from harness.provenance.code import experiment_code
from harness.store.atomic import alone_in, write_bytes
from harness.store.record import Record
from harness.store.workspace import Workspace
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, parse_json, read_bytes

AGREE: tuple[OutcomeWord, ...] = ("bit", "close", "spread")
AGAIN = "run again"
"""What stands before what came of it; pages link it to what it means."""


class Verification(Strict):
    """What came of one committed trial that was run again."""

    schema_version: Literal[1] = 1
    experiment: str
    profile: str
    key: str
    trial: str
    """Its address, as a reader knows it."""
    commit: str
    dirty: bool
    """Whether the code differed from that commit."""
    record_commit: str
    machine: dict[str, Any]
    record_machine: dict[str, Any]
    outcome: OutcomeWord
    reason: str
    relative: float | None
    column: str
    wall_s: float
    at: str
    """When it was compared, UTC."""

    @property
    def agrees(self) -> bool:
        return self.outcome in AGREE


def stale_keys(
    experiment: Experiment, records: Iterable[Record], before: Before | None
) -> set[str]:
    """Return the keys of the records that another code than today's gave.

    before: the paper's export, which tells the code of records from before it.
    """
    current = experiment_code(experiment)
    return {record.key for record in records if code_of(record, before) != current}


def draw(keys: Iterable[str], num: int, *, commit: str, experiment_id: str) -> list[str]:
    """Return `num` of the keys, or all where there are fewer; nobody picks which.

    They are the first in the order of the SHA-256 of "<commit> <experiment> <key>".
    """

    def place(key: str) -> str:
        return hashlib.sha256(f"{commit} {experiment_id} {key}".encode()).hexdigest()

    return sorted(set(keys), key=place)[:num]


def measured_columns(tasks: Iterable[Task]) -> set[str]:
    """Return the columns that the tasks say another run may change, such as times."""
    return {c.name for task in tasks for c in task.table.columns if c.role == "measurement"}


def verifications_path(workspace: Workspace, experiment_id: str, profile: Profile) -> Path:
    paper, name = experiment_id.split("/")
    return workspace.root / "results" / paper / "verify" / f"{name}.{profile}.jsonl"


def load_verifications(
    workspace: Workspace, experiment_id: str, profile: Profile
) -> list[Verification]:
    """Return every outcome that is kept, the oldest first; none where there is no file.

    A torn last line is passed over. Raises DataError with file and line for any other line
    that is no outcome of this experiment and profile.
    """
    path = verifications_path(workspace, experiment_id, profile)
    found = []
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            outcome = Verification.model_validate_json(line)
        except ValidationError as error:
            raise DataError(
                f"{path} line {number} is no outcome of repro verify ({explain(error)}): restore"
                " it with git checkout"
            ) from error
        if (outcome.experiment, outcome.profile) != (experiment_id, profile):
            raise DataError(
                f"{path} line {number} is of {outcome.experiment} at {outcome.profile}: restore it"
                " with git checkout"
            )
        found.append(outcome)
    return found


def keep_verification(workspace: Workspace, outcome: Verification, profile: Profile) -> None:
    """Add an outcome to its file; what stands there stays, but for half a line at its end.

    Raises RunError where the file cannot be written; it is then as it was.
    """
    path = verifications_path(workspace, outcome.experiment, profile)
    line = canonical_json(outcome.model_dump(mode="json")).encode()
    with alone_in(path.parent):
        write_bytes(path, b"".join(each + b"\n" for each in [*_whole_lines(path), line]))


def _whole_lines(path: Path) -> list[bytes]:
    """Return a file's lines, without what follows the last line end if that is torn."""
    try:
        *whole, rest = read_bytes(path).split(b"\n")
    except FileNotFoundError:
        return []
    try:
        parse_json(rest, where=str(path))
    except UnreadableError:
        return whole
    # Only its line end was lost, as some editors do.
    return [*whole, rest]


def verified_text(found: Sequence[Verification]) -> str:
    """Return what pages say of a table's trials that were run again; empty where none was.

    Told in full is where the latest of them was run. What was run elsewhere, by another processor
    or commit, is counted after it, so that a difference stays to be seen. A trial counts once a
    place, and agrees if it did so every time; what could not run there is said, not counted.
    The commits stay in the file: a clone need not have them.
    """
    if not found:
        return ""
    cpu, _, dirty = place = _place(max(found, key=lambda outcome: outcome.at))
    here = [outcome for outcome in found if _place(outcome) == place]
    ran, agreed = _count(here)
    by = f"{AGAIN} on {cpu.replace(',', '')}{', by code that is in no commit,' if dirty else ''}"
    noun, verb = ("trial", "agrees") if ran == 1 else ("trials", "agree")
    words = [f"{agreed} of {ran} {noun} {by} {verb}" if ran else f"no trial could be {by}"]
    not_run = len({outcome.key for outcome in here}) - ran
    words.append(f"{not_run} more could not run there" if ran and not_run else "")
    before, agreed_before = _count(each for each in found if _place(each) != place)
    earlier = f"{agreed_before} of {before} on other processors or by other code"
    words.append(earlier if before else "")
    return "; ".join(word for word in words if word).removesuffix(",")


def _place(outcome: Verification) -> tuple[str, str, bool]:
    return cpu_name(outcome.machine), outcome.commit, outcome.dirty


def _count(found: Iterable[Verification]) -> tuple[int, int]:
    """Return how many trials ran, and how many of them always agreed."""
    trials: dict[tuple[Any, ...], bool] = {}
    for outcome in found:
        if outcome.outcome != "not_run":
            trial = (outcome.key, *_place(outcome))
            trials[trial] = trials.get(trial, True) and outcome.agrees
    return len(trials), sum(trials.values())
