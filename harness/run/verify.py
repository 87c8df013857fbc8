"""Committed trials that are run again, in a folder of their own, and how they agree.

One line per paper and processor is kept in `results/<paper>/verified.jsonl`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic import Field, ValidationError

from harness.atomic import alone_in, write_text
from harness.canonical import canonical_json
from harness.declare.experiment import Estimate, Experiment, Row, Status
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.errors import DataError
from harness.measure.machine import cpu_name
from harness.registry import Library
from harness.run.executors.job import Executor
from harness.run.plan import Action, MachineLimits, Plan, PlannedTrial, lacking
from harness.run.progress import Progress
from harness.run.runner import Runner, Summary
from harness.store.record import Record, read_pack
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of, with_upstream
from harness.store.workspace import Workspace
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, is_there, read_text

Word = Literal["bit", "close", "differs", "not_run"]
"""`bit`: every cell is equal; `close`: floats within 1e-4, the rest equal; else `differs`.
`not_run`: it cannot run here."""
RELATIVE = 1e-4
"""Another processor adds in another order; a changed method changes more."""
ABSOLUTE = 1e-9
"""For values that are zero but for rounding."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of one trial that was run again."""

    experiment: str
    trial: str
    """Its address, as a reader knows it."""
    outcome: Word
    reason: str = ""
    relative: float | None = None
    """Largest relative difference of two numbers."""
    column: str = ""
    """Where it occurs."""
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
    'Run again on 2 kinds of processor: 6 of 6 trials agree.'
    """
    total, agree = (sum(getattr(f, n) for f in found) for n in ("num_trials", "num_agree"))
    where = f"{len(found)} kinds of processor" if len(found) > 1 else "another day"
    return f"Run again on {where}: {agree} of {total} trials agree." if total else ""


def keep(
    workspace: Workspace, paper: str, outcomes: Iterable[Outcome], *, cpu: str, commit: str
) -> None:
    """Add outcomes to the line of this processor. Raises RunError where it cannot be written."""
    ran = [outcome for outcome in outcomes if outcome.outcome != "not_run"]
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


@dataclass(frozen=True, slots=True)
class Drawn:
    """A committed record, and its trial as it is declared now."""

    trial: Trial
    record: Record


def draw(keys: Iterable[str], num: int, *, commit: str) -> list[str]:
    """Return `num` of the keys, or all where there are fewer: drawn by the commit, not by us."""
    return sorted(keys, key=lambda key: hashlib.sha256(f"{commit} {key}".encode()).digest())[:num]


def draw_trials(
    workspace: Workspace, experiment: Experiment, profile: Profile, num: int, *, commit: str
) -> list[Drawn]:
    """Return `num` of an experiment's committed trials, or all where there are fewer."""
    path = RecordStore(workspace).pack_path(experiment.id, profile)
    records = {r.key: r for r in read_pack(path)} if is_there(path) else {}
    grid = {trial.key: trial for trial in grid_of(experiment, profile)}
    found = []
    for key in draw(records, num, commit=commit):
        record = records[key]
        # Some that others start from lie outside the grid.
        trial = grid.get(key) or Trial(experiment, dict(record.params), profile)
        found.append(Drawn(trial, record))
    return found


def obstacle(drawn: Drawn, limits: MachineLimits) -> str:
    """Return why a trial cannot be run again here, or nothing."""
    for trial in with_upstream(drawn.trial):
        if lack := lacking(trial.needs, limits):
            return lack if trial is drawn.trial else f"{trial.name}: {lack}"
    if drawn.trial.key != drawn.record.key:
        return "its version, data or upstream trials are no longer those declared"
    return ""


def rerun_plan(
    drawn: Sequence[Drawn], profile: Profile, limits: MachineLimits
) -> tuple[Plan, list[Outcome]]:
    """Return what is to run, upstream first, and an outcome for each that cannot run here."""
    plan, cannot = Plan((), profile, Overrides()), []
    for each in drawn:
        if reason := obstacle(each, limits):
            cannot.append(_outcome(each, outcome="not_run", reason=reason))
            continue
        estimate = Estimate(seconds=each.record.provenance.wall_s)
        for trial in with_upstream(each.trial):
            plan.items[trial.key] = PlannedTrial(
                trial=trial, action=Action.RUN, reason="it is run again", estimate=estimate
            )
    return plan, cannot


def rerun(
    drawn: Sequence[Drawn],
    plan: Plan,
    library: Library,
    executor: Executor,
    progress: Progress,
    *,
    facts: Mapping[str, Any],
    on_start: Callable[[Runner], None],
) -> tuple[Summary, list[Outcome]]:
    """Run a plan in a temporary checkout and compare what ended, also where it was interrupted.

    facts: commit, dirty, versions and machine, as records of a run have them. on_start: gets the
    runner before it runs, to stop it.
    """
    # A trial's own child may outlive it by a moment, and must not spoil the end.
    with TemporaryDirectory(prefix="repro-verify-", ignore_cleanup_errors=True) as folder:
        store = RecordStore(Workspace(Path(folder)))
        facts = {**facts, "overrides": {}}
        runner = Runner(plan, store, library, executor, progress, facts=facts)
        on_start(runner)
        summary = runner.run()
        outcomes = []
        for each in (each for each in drawn if each.record.key in plan.items):
            new = store.read(each.trial)
            if isinstance(new, Record):
                tasks = library.tasks_of(each.trial.experiment)
                columns = [column for task in tasks for column in task.table.columns]
                measured = {c.name for c in columns if c.role == "measurement"}
                outcomes.append(_outcome(each, **compare(each.record, new, measured=measured)))
    return summary, outcomes


def _outcome(drawn: Drawn, **found: Any) -> Outcome:
    then = cpu_name(drawn.record.provenance.machine)
    name = drawn.record.experiment
    return Outcome(experiment=name, trial=drawn.trial.name, then=then, **found)


def compare(old: Record, new: Record, *, measured: Collection[str]) -> dict[str, Any]:
    """Say how the record of a trial that was run again agrees with the committed one.

    measured: columns to leave out. Returns outcome, reason, relative and column.
    """
    if new.status == Status.SKIPPED:
        return {"outcome": "not_run", "reason": new.note}
    if new.status != old.status:
        return {"outcome": "differs", "reason": f"{old.status} then, {new.status} now"}
    if len(old.rows) != len(new.rows):
        return {"outcome": "differs", "reason": f"{len(old.rows)} rows then, {len(new.rows)} now"}
    return compare_rows(old.rows, new.rows, measured=measured)


def compare_rows(
    old: Sequence[Row], new: Sequence[Row], *, measured: Collection[str] = ()
) -> dict[str, Any]:
    """Compare as many rows with as many, cell by cell; the reason names the first odd cell.

    An odd cell is one that differs and is not a float on both sides.
    """
    largest, column, odd, is_equal = 0.0, "", "", True
    for number, (before, after) in enumerate(zip(old, new, strict=True)):
        for name in sorted((before.keys() | after.keys()) - set(measured)):
            left, right = before.get(name, "absent"), after.get(name, "absent")
            if type(left) is type(right) and left == right:
                continue
            is_equal = False
            if isinstance(left, float) and isinstance(right, float):
                moved = relative_difference(left, right)
                if moved > largest:
                    largest, column = moved, name
            else:
                odd = odd or f"row {number} {name}: {left!r:.40} then, {right!r:.40} now"
    outcome: Word = "bit" if is_equal else "close"
    if odd or largest > RELATIVE:
        outcome = "differs"
    return {"outcome": outcome, "reason": odd, "relative": largest, "column": column}


def relative_difference(old: float, new: float) -> float:
    """Return the distance of two numbers over the larger size, at most 2.

    Sizes below 1e-5 count as 1e-5, so that the one limit of 1e-4 lets 1e-9 pass for zero.

    >>> relative_difference(100.0, 101.0) < 0.01, relative_difference(0.0, 1e-9) <= RELATIVE
    (True, True)
    """
    return min(abs(old - new) / max(abs(old), abs(new), ABSOLUTE / RELATIVE), 2.0)
