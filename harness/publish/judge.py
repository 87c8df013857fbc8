"""Verdicts of a task's claims, from its stored result and what its records say of themselves."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from harness.declare.claims import Claim
from harness.declare.cohorts import FIRST
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.declare.verdict import Measured, Verdict, Word, measure
from harness.errors import DataError, HarnessError, UsageError
from harness.provenance.before import Before, Former, load_before
from harness.provenance.restated import Restated, load_restated
from harness.provenance.seals import (
    Comparison,
    Seal,
    Sealed,
    State,
    compare,
    keys_digest,
    seal,
    seal_name,
    standing,
    threshold_json,
)
from harness.publish.check_row import CheckRow
from harness.publish.evidence import Evidence, check_lines, evidence_of
from harness.run.trial import cohorts_of
from harness.store.result import (
    ResultMeta,
    TaskResult,
    csv_path,
    load_result,
    rebuild_result,
    trials_of,
)
from harness.store.workspace import COMMITTED_PROFILES, Workspace

if TYPE_CHECKING:
    import pandas as pd

NO_RUN = Comparison(state="none")


@dataclass(frozen=True, slots=True)
class Judged:
    """A task's verdicts, and by the name of its seal what each claim asks and measured."""

    rows: list[CheckRow]
    sides: dict[str, Sealed]


def judge(
    task: Task,
    result: TaskResult | None,
    profile: Profile,
    reference: pd.DataFrame | None,
    *,
    evidence: Mapping[str, Evidence] | None = None,
    before: Before | None = None,
    restated: Restated | None = None,
) -> Judged:
    """Evaluate every claim of a task on a result (None: it was not run).

    evidence: the records behind the result, by key, None where seals are not asked for;
    before: the paper's export; restated: the claims that ask the same in another form.
    """
    judged = Judged([], {})
    run = [] if result is None else list(result.tables)
    planned = {} if result is None else {c: _planned(task, result.meta, c) for c in run}
    for claim in task.claims:
        for cohort in dict.fromkeys([judging_cohort(task, claim, profile), *run]):
            measured = _measured(claim, task, result, profile, cohort)
            state = NO_RUN
            if result is not None and cohort in run:
                now = _standing(task, claim, profile, planned[cohort], measured, cohort)
                judged.sides[seal_name(task.id, claim.id, cohort)] = now
                if evidence is not None:
                    records = _behind(planned, cohort, evidence)
                    former = (before, restated or Restated())
                    state = compare_claim(task, claim, now, result.meta, records, *former)
                    decided = _decided_by(task, claim, run[-1], profile, evidence, planned)
                    if decided and cohort == judging_cohort(task, claim, profile):
                        lines = (decided, *state.differences)
                        state = replace(state, state="changed", differences=lines)
            judged.rows.append(_row(task, claim, profile, measured, reference, state, cohort))
    return judged


def _behind(
    planned: Mapping[str, Sequence[str]], cohort: str, evidence: Mapping[str, Evidence]
) -> list[Evidence]:
    """Return the records that a cohort's seals stand in.

    Trials without a seed belong to every cohort, and have run with the first one.
    """
    first = set(planned.get(FIRST, ())) if cohort != FIRST else set()
    records = [evidence[k] for k in planned[cohort] if k in evidence and k not in first]
    # Where the grid is another one by now, the result rests on what it names.
    return records or list(evidence.values())


def _decided_by(
    task: Task,
    claim: Claim,
    latest: str,
    profile: Profile,
    evidence: Mapping[str, Evidence],
    planned: Mapping[str, Sequence[str]],
) -> str:
    """Say where another cohort was to decide a claim when its latest one ran, or nothing.

    Whoever has seen two cohorts could pick the one that suits.
    """
    name = seal_name(task.id, claim.id, latest)
    records = _behind(planned, latest, evidence)
    seals = (_seal_in(r.first_seals, name, profile, Restated()) for r in records)
    told = {made.judged_by for made in seals if made is not None and made.judged_by is not None}
    others = sorted(told - {claim.scope.cohort}) if latest != FIRST else []
    return f"judged by: {others[0]} then, {claim.scope.cohort} now" if others else ""


def judging_cohort(task: Task, claim: Claim, profile: Profile) -> str:
    """Return the cohort that decides a claim: the first where a profile has not its own."""
    return claim.scope.cohort if claim.scope.cohort in cohorts_of(task, profile) else FIRST


def _standing(
    task: Task,
    claim: Claim,
    profile: Profile,
    planned: Sequence[str],
    measured: Measured,
    cohort: str,
) -> Sealed:
    made = seal(task, claim, {profile: keys_digest(planned)}, cohort=cohort)
    undecided = measured.verdict.word == Word.NOT_RUN
    return standing(claim, made, None if undecided else measured)


def _planned(task: Task, meta: ResultMeta, cohort: str) -> list[str]:
    """Return the keys of a cohort's trials, as the grid has them now."""
    profile = cast(Profile, meta.profile)
    trials = trials_of(task, profile, meta.provenance.overrides, cohort=cohort)
    return [trial.key for trial in trials]


def compare_claim(
    task: Task,
    claim: Claim,
    now: Sealed,
    meta: ResultMeta,
    records: Sequence[Evidence],
    before: Before | None,
    restated: Restated,
) -> Comparison:
    """Compare a claim with its sealed side: the export's, or its records' and first judgement's."""
    cohort = now.seal.band.cohort
    name = seal_name(task.id, claim.id, cohort)
    # A variant's trials may be those of the grid: what was planned is said of the grid alone.
    speaking = "" if meta.provenance.overrides else meta.profile
    now = now.model_copy(update={"seal": now.seal.at(speaking)})
    read = functools.partial(_seal_in, name=name, profile=speaking, restated=restated)
    last = [read(record.seals) for record in records]
    if cohort == FIRST and before is not None and not meta.provenance.overrides:
        if merged := restated.merged_into(name):
            return _compare_merged(now, [before.named(each, meta.profile) for each in merged])
        found = before.named(name, meta.profile)
        if found is not None:
            side = _translated(found.side, name, restated)
            return compare(now, [side], last, was=found.state, note=found.note)
    first = [read(record.first_seals) for record in records]
    judged = meta.judged.get(name)
    if judged is not None:
        judged = _translated(judged, name, restated)
    sides = {str(made): None if made is None else _side(made, judged) for made in first}
    if judged is not None:
        # Also where other trials, of another version say, took seals anew.
        sides["judged"] = judged.model_copy(update={"seal": judged.seal.at(speaking)})
    return compare(now, list(sides.values()), last)


def _compare_merged(now: Sealed, former: Sequence[Former | None]) -> Comparison:
    """Compare a check with those that it asks together: each must have held, on its trials."""
    sides = [each.side for each in former if each is not None and each.state == "sealed"]
    held = [
        side
        for side in sides
        if side.outcome is not None
        and side.outcome.verdict == Word.REPRODUCED
        and side.seal.keys == now.seal.keys
    ]
    holds = now.outcome is not None and now.outcome.verdict == Word.HOLDS
    state: State = "restated" if holds and len(held) == len(former) else "changed"
    return Comparison(state=state, differences=(f"it asks what {len(former)} checks asked",))


def _translated(side: Sealed, name: str, restated: Restated) -> Sealed:
    return side.model_copy(update={"seal": restated.translate(name, side.seal)})


def _seal_in(seals: Mapping[str, Any], name: str, profile: str, restated: Restated) -> Seal | None:
    """Return a claim's seal among a record's; one of before there were bands is none."""
    body = seals.get(name)
    if body is None or "band" not in body:
        return None
    return restated.translate(name, Seal.model_validate(dict(body)).at(profile))


def _side(made: Seal, judged: Sealed | None) -> Sealed:
    """Return what a record sealed, with what that code measured when it was first judged."""
    if judged is None:
        return Sealed(seal=made)
    same_code = judged.seal.code == made.code
    return judged.model_copy(
        update={"seal": made, "outcome": judged.outcome if same_code else None}
    )


def failed_rows(task: Task, profile: Profile, error: HarnessError) -> list[CheckRow]:
    """Return ERROR for every claim of a task whose stored result cannot be used."""
    measured = Measured(verdict=Verdict(word=Word.ERROR, reason=str(error)))
    return [
        _row(task, claim, profile, measured, None, NO_RUN, judging_cohort(task, claim, profile))
        for claim in task.claims
    ]


def _measured(
    claim: Claim, task: Task, result: TaskResult | None, profile: Profile, cohort: str
) -> Measured:
    if profile not in claim.scope.profiles:
        return Measured(verdict=Verdict(word=Word.OUT_OF_PROFILE, reason=claim.scope.elsewhere))
    reason = _not_run(task, result, profile, cohort)
    if result is None or reason:
        return Measured(verdict=Verdict(word=Word.NOT_RUN, reason=reason))
    return measure(claim, result.tables[cohort], seed=task.table.seed, profile=profile)


def _not_run(task: Task, result: TaskResult | None, profile: Profile, cohort: str) -> str:
    """Return why a cohort's table cannot be judged, or an empty string."""
    command = f"repro run {task.id} --profile {profile}"
    if result is None:
        return f"not run in this profile: {command}"
    if cohort not in result.tables:
        return f"{cohort} was not run: {command} --cohort {cohort}"
    missing = result.counts(cohort).without_result
    if not missing:
        return ""
    total = missing + result.counts(cohort).with_result
    gaps = [f", first {g.trial}: {g.reason}" for g in result.meta.not_run if g.cohort == cohort]
    return f"{missing} of {total} trials have no result{gaps[0] if gaps else ''}"


def _paper_value(claim: Claim, reference: pd.DataFrame | None) -> float | None:
    if claim.criterion.paper_value is None or reference is None:
        return None
    from harness.declare.reference import published

    rows = published(reference)
    value = None if rows.empty else claim.criterion.paper_value(rows)
    # JSON has no NaN, and a row without a number is one that was not published.
    return None if value is None or not math.isfinite(value) else float(value)


def _row(
    task: Task,
    claim: Claim,
    profile: Profile,
    measured: Measured,
    reference: pd.DataFrame | None,
    state: Comparison,
    cohort: str,
) -> CheckRow:
    verdict, value = measured.verdict, None
    try:
        value = _paper_value(claim, reference)
    except Exception as error:  # noqa: BLE001 - whatever it raises becomes ERROR
        reason = f"its paper value: {type(error).__name__}: {error}"
        verdict = Verdict(word=Word.ERROR, reason=reason)
    return CheckRow(
        task=task.id,
        claim=claim.id,
        form=claim.criterion.form,
        grade=claim.scope.grade,
        profile=profile,
        verdict=verdict.word,
        reason=verdict.reason,
        measured=verdict.measured,
        low=verdict.low,
        high=verdict.high,
        num_seeds=verdict.num_seeds,
        threshold=threshold_json(claim.criterion.threshold),
        threshold_from=claim.scope.threshold_from,
        paper_value=value,
        seal=state.state,
        cohort=cohort,
        decides=cohort == judging_cohort(task, claim, profile),
        differences=state.differences,
    )


def check_stored(
    workspace: Workspace,
    task: Task,
    profile: Profile,
    reference: pd.DataFrame | None,
    *,
    deep: bool = False,
) -> list[CheckRow]:
    """Evaluate a task's claims on what is stored; a damaged result gives ERROR rows.

    deep: also build table, samples and verdicts anew from the committed records, and compare.
    """
    try:
        before = load_before(workspace.root, task.paper)
        result = load_result(workspace, task, profile)
        found: dict[str, Evidence] = {}
        if result is not None:
            found = evidence_of(workspace, task, profile, result.meta)
            check_lines(csv_path(workspace, task, profile), result.meta, found)
        restated = load_restated(workspace.root)
        judged = judge(
            task, result, profile, reference, evidence=found, before=before, restated=restated
        )
        if deep and result is not None and workspace.is_committed(profile):
            check_rebuilt(workspace, task, profile, result, judged)
        return judged.rows
    except (DataError, UsageError) as error:
        return failed_rows(task, profile, error)


def check_rebuilt(
    workspace: Workspace, task: Task, profile: Profile, stored: TaskResult, judged: Judged
) -> None:
    """Raise DataError unless the committed records give just what is stored and judged."""
    path = csv_path(workspace, task, profile)
    rebuilt = rebuild_result(workspace, task, profile)
    advice = "run the task again or restore the file"
    if rebuilt is None or rebuilt.csv != stored.csv:
        raise DataError(f"{path} does not follow from the committed records: {advice}")
    kept = {"judged": stored.meta.judged, "verdicts": stored.meta.verdicts}
    if rebuilt.meta.model_copy(update=kept) != stored.meta:
        names = [
            name
            for name in ResultMeta.model_fields
            if name not in kept and getattr(rebuilt.meta, name) != getattr(stored.meta, name)
        ]
        raise DataError(
            f"{path.with_suffix('.json')}: {', '.join(names)} do not follow from the committed "
            f"records: {advice}"
        )
    again = judge(task, rebuilt, profile, None)
    for name, side in judged.sides.items():
        if again.sides[name].outcome != side.outcome:
            raise DataError(f"{path}: {name} measures something else on the records: {advice}")


def profiles_to_check(
    workspace: Workspace, task: Task, wanted: Profile | None
) -> Sequence[Profile]:
    """Return the profiles to report.

    The wanted one, else those committed, else what is stored of smoke, else `cpu`.
    """
    if wanted is not None:
        return [wanted]
    paths = {p: csv_path(workspace, task, p) for p in PROFILES}
    # Half of a result is damage to report, not a task that was not run.
    stored = [p for p, f in paths.items() if f.exists() or f.with_suffix(".json").exists()]
    committed = [p for p in stored if p in COMMITTED_PROFILES]
    return committed or stored or ["cpu"]
