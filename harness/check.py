"""Verdicts of a task's claims, from its stored result alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from harness.claims import Claim, Verdict, Word, evaluate
from harness.errors import DataError
from harness.results import ResultMeta, SealMeta, TaskResult, load_result
from harness.seals import seal, threshold_json
from harness.task import PROFILES, Profile, Task
from harness.workspace import COMMITTED_PROFILES, Workspace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRow:
    """One claim's verdict in one profile; the fields of `repro check --json`."""

    task: str
    claim: str
    form: str
    grade: str
    profile: str
    verdict: str
    reason: str
    measured: float | None
    low: float | None
    high: float | None
    num_seeds: int
    threshold: Any
    threshold_from: str
    paper_value: float | None
    seal: str
    """`sealed`: the claim is what it was when the runs started; `changed`: it differs; `late`:
    it came after some of them; `none`: there is no run."""
    sealed_threshold: Any = None
    """The threshold at the start of the runs, where it differs or the claim changed."""

    @property
    def fails(self) -> bool:
        """Whether this row must fail `repro check`: an error, or an exact claim that is false."""
        return self.verdict == Word.ERROR or (
            self.grade == "exact" and self.verdict in (Word.NOT_REPRODUCED, Word.INCONCLUSIVE)
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def check_task(
    task: Task, result: TaskResult | None, profile: Profile, reference: pd.DataFrame | None
) -> list[CheckRow]:
    """Evaluate every claim of a task on a stored result (None: it was not run)."""
    rows = []
    for claim in task.claims:
        verdict = _verdict(claim, task, result, profile)
        state, old = ("none", None) if result is None else seal_state(task, claim, result.meta)
        try:
            value = _paper_value(claim, reference)
        except Exception as error:  # noqa: BLE001 - whatever it raises becomes ERROR
            reason = f"its paper value: {type(error).__name__}: {error}"
            value, verdict = None, Verdict(word=Word.ERROR, reason=reason)
        rows.append(_row(task, claim, profile, verdict, value, state, old))
    return rows


def failed_rows(task: Task, profile: Profile, error: DataError) -> list[CheckRow]:
    """Return ERROR for every claim of a task whose stored result cannot be used."""
    verdict = Verdict(word=Word.ERROR, reason=str(error))
    return [_row(task, claim, profile, verdict, None, "none", None) for claim in task.claims]


def _verdict(claim: Claim, task: Task, result: TaskResult | None, profile: Profile) -> Verdict:
    if profile not in claim.profiles:
        return Verdict(word=Word.OUT_OF_PROFILE, reason=claim.out_of_profile)
    if result is None:
        command = f"repro run {task.id} --profile {profile}"
        return Verdict(word=Word.NOT_RUN, reason=f"not run in this profile: {command}")
    missing = result.meta.trials.without_result
    if missing:
        total = missing + result.meta.num_records
        first = result.meta.not_run[0]
        reason = f"{missing} of {total} trials have no result, first {first.trial}: {first.reason}"
        return Verdict(word=Word.NOT_RUN, reason=reason)
    return evaluate(claim, result.table, columns=task.columns, profile=profile)


def seal_state(task: Task, claim: Claim, meta: ResultMeta) -> tuple[str, Any]:
    """Compare a claim with what it was when the trials started; also return its old threshold."""
    stored: list[SealMeta] = meta.seals.get(f"{task.id}:{claim.id}", [])
    current = seal(claim).sha256
    others = [entry for entry in stored if entry.sha256 != current]
    if others:
        return "changed", others[0].threshold
    if sum(entry.num_records for entry in stored) < meta.num_records:
        return "late", None
    return "sealed", None


def _paper_value(claim: Claim, reference: pd.DataFrame | None) -> float | None:
    if claim.paper_value is None or reference is None:
        return None
    from harness.reference import published

    rows = published(reference)
    value = None if rows.empty else claim.paper_value(rows)
    # JSON has no NaN, and a row without a number is one that was not published.
    return None if value is None or not math.isfinite(value) else float(value)


def _row(
    task: Task,
    claim: Claim,
    profile: Profile,
    verdict: Verdict,
    paper_value: float | None,
    state: str,
    old: Any,
) -> CheckRow:
    return CheckRow(
        task=task.id,
        claim=claim.id,
        form=claim.form,
        grade=claim.grade,
        profile=profile,
        verdict=verdict.word,
        reason=verdict.reason,
        measured=verdict.measured,
        low=verdict.low,
        high=verdict.high,
        num_seeds=verdict.num_seeds,
        threshold=threshold_json(claim.threshold),
        threshold_from=claim.threshold_from,
        paper_value=paper_value,
        seal=state,
        sealed_threshold=old,
    )


def check_stored(
    workspace: Workspace, task: Task, profile: Profile, reference: pd.DataFrame | None
) -> list[CheckRow]:
    """Evaluate a task's claims on what is stored; a damaged result gives ERROR rows."""
    try:
        return check_task(task, load_result(workspace, task, profile), profile, reference)
    except DataError as error:
        return failed_rows(task, profile, error)


def profiles_to_check(
    workspace: Workspace, task: Task, wanted: Profile | None
) -> Sequence[Profile]:
    """Return the profiles to report.

    The wanted one, else those committed, else what is stored of smoke, else `cpu`.
    """
    if wanted is not None:
        return [wanted]
    from harness.results import csv_path

    paths = {p: csv_path(workspace, task, p) for p in PROFILES}
    # Half of a result is damage to report, not a task that was not run.
    stored = [p for p, f in paths.items() if f.exists() or f.with_suffix(".json").exists()]
    committed = [p for p in stored if p in COMMITTED_PROFILES]
    return committed or stored or ["cpu"]
