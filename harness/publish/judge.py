"""Verdicts of a task's claims, from its stored result and what its records say of themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from harness.declare.claims import Claim
from harness.declare.cohorts import FIRST
from harness.declare.overrides import Overrides
from harness.declare.profiles import PROFILES, Profile
from harness.declare.scope import Factor
from harness.declare.task import Task
from harness.declare.verdict import Measured, Verdict, Word, measure
from harness.errors import DataError, HarnessError, UsageError
from harness.provenance.before import Before, load_before
from harness.provenance.restated import Restated, load_restated
from harness.provenance.seals import (
    Comparison,
    Sealed,
    keys_digest,
    same_values,
    seal,
    seal_name,
    standing,
    threshold_json,
)
from harness.publish.chance import WEAK_ABOVE, Shuffle, chance_code, chance_of
from harness.publish.check_row import NOT_COMPUTED, CheckRow
from harness.publish.evidence import Evidence, check_lines, evidence_of
from harness.publish.power import seeds_to_decide
from harness.publish.standing import compare_claim, seal_in
from harness.run.trial import cohorts_of
from harness.store.meta import Chance, ResultMeta
from harness.store.result import (
    TaskResult,
    csv_path,
    load_result,
    rebuild_result,
    trials_of,
)
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from harness.untrusted import is_there

if TYPE_CHECKING:
    import pandas as pd

NO_RUN = Comparison(state="none")
NOTHING = Overrides()
TOLD = ("verdict", "measured", "low", "high", "num_seeds", "threshold")
"""What stands of a verdict beside a table, and must follow from the records."""


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
    overrides: Overrides = NOTHING,
    evidence: Mapping[str, Evidence] | None = None,
    before: Before | None = None,
    restated: Restated | None = None,
) -> Judged:
    """Evaluate every claim of a task on a result (None: it was not run).

    overrides: of the variant that is judged, for the commands that reasons name;
    evidence: the records behind the result, by key, None where seals are not asked for;
    before: the paper's export; restated: the claims that ask the same in another form.
    """
    judged = Judged([], {})
    run = [] if result is None else list(result.tables)
    planned = {} if result is None else {c: _planned(task, result.meta, c) for c in run}
    for claim in task.claims:
        for cohort in dict.fromkeys([judging_cohort(task, claim, profile), *run]):
            measured = _measured(claim, task, result, profile, cohort, overrides)
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
            row = _row(task, claim, profile, measured, reference, state, cohort)
            judged.rows.append(_with_chance(row, task, claim, measured, result, overrides))
    return judged


def _with_chance(
    row: CheckRow,
    task: Task,
    claim: Claim,
    measured: Measured,
    result: TaskResult | None,
    overrides: Overrides,
) -> CheckRow:
    """Return a claim's row with what chance could do, and with what would decide it."""
    if result is None or row.grade == "exact" or not measured.samples:
        return row
    if measured.doubt:  # no number of seeds takes it away, nor does chance bring it about
        return row
    undecided = row.verdict == Word.INCONCLUSIVE
    row = replace(
        row,
        chance_reason=claim.scope.no_null,
        seeds_to_decide=seeds_to_decide(claim, measured.samples) if undecided else None,
    )
    if claim.scope.factor is None:
        return row
    stored = result.meta.chances.get(seal_name(task.id, claim.id, row.cohort))
    if stored is None or stored.code != chance_code(task, claim):
        advice = f"repro run {task.id} --profile {row.profile}{overrides.options}"
        return replace(row, chance_reason=f"{NOT_COMPUTED}: {advice}")
    weak = None if stored.rate is None else stored.rate > WEAK_ABOVE
    return replace(row, chance_rate=stored.rate, weak=weak, chance_reason=stored.reason)


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
    seals = (seal_in(r.first_seals, name, profile, Restated()) for r in records)
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


def chances_of(
    task: Task, result: TaskResult, stored: ResultMeta | None = None
) -> dict[str, Chance]:
    """Return how often chance alone would reproduce each claim that was decided.

    result: one that was built from records; stored: the JSON of a former one, whose chances stand
    where they follow from the same records and code.
    """
    known = stored.chances if stored is not None and stored.lines == result.meta.lines else {}
    profile = cast(Profile, result.meta.profile)
    found = {}
    for cohort, table in result.tables.items():
        shuffles: dict[Factor, Shuffle] = {}
        for claim in task.claims:
            factor = claim.scope.factor
            measured = _measured(claim, task, result, profile, cohort)
            if factor is None or not measured.samples or measured.doubt:
                continue
            name = seal_name(task.id, claim.id, cohort)
            if name in known and known[name].code == chance_code(task, claim):
                found[name] = known[name]
                continue
            if factor not in shuffles:
                shuffles[factor] = Shuffle(task, table, result.runs[cohort], factor)
            found[name] = chance_of(claim, shuffles[factor])
    return found


def failed_rows(task: Task, profile: Profile, error: HarnessError) -> list[CheckRow]:
    """Return ERROR for every claim of a task whose stored result cannot be used."""
    measured = Measured(verdict=Verdict(word=Word.ERROR, reason=str(error)))
    return [
        _row(task, claim, profile, measured, None, NO_RUN, judging_cohort(task, claim, profile))
        for claim in task.claims
    ]


def _measured(
    claim: Claim,
    task: Task,
    result: TaskResult | None,
    profile: Profile,
    cohort: str,
    overrides: Overrides = NOTHING,
) -> Measured:
    if profile not in claim.scope.profiles:
        return Measured(verdict=Verdict(word=Word.OUT_OF_PROFILE, reason=claim.scope.elsewhere))
    reason = _not_run(task, result, profile, cohort, overrides)
    if result is None or reason:
        return Measured(verdict=Verdict(word=Word.NOT_RUN, reason=reason))
    return measure(claim, result.tables[cohort], seed=task.table.seed, profile=profile)


def _not_run(
    task: Task, result: TaskResult | None, profile: Profile, cohort: str, overrides: Overrides
) -> str:
    """Return why a cohort's table cannot be judged, or an empty string."""
    command = f"repro run {task.id} --profile {profile}{overrides.options}"
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
        own_question=claim.scope.own_question,
        half_of=claim.scope.whole,
        by_construction=claim.scope.by_construction,
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
        deciding=verdict.deciding,
        paper_standing="derived" if claim.criterion.is_derived and value is not None else "",
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
            task,
            result,
            profile,
            reference,
            overrides=workspace.overrides,
            evidence=found,
            before=before,
            restated=restated,
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
    # These follow from other sources, or are compared below.
    kept = {name: getattr(stored.meta, name) for name in ("judged", "verdicts", "stands_in")}
    rebuilt = rebuilt.knowing(chances=chances_of(task, rebuilt))
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
    told = {(row["claim"], row["cohort"]): row for row in stored.meta.verdicts}
    for row in judged.rows:
        then, now = told.get((row.claim, row.cohort), {}), row.to_json()
        # What was declared anew since has not been written yet, and says so by its seal.
        same = all(same_values(then.get(n), now[n]) for n in TOLD)
        if then and row.seal != "changed" and not same:
            raise DataError(
                f"{path.with_suffix('.json')}: the verdict of {row.claim} is another one: {advice}"
            )


def profiles_to_check(
    workspace: Workspace, task: Task, wanted: Profile | None
) -> Sequence[Profile]:
    """Return the wanted profile, else those committed, else what is stored of smoke, else cpu."""
    if wanted is not None:
        return [wanted]
    paths = {p: csv_path(workspace, task, p) for p in PROFILES}
    # Half of a result is damage to report, not a task that was not run.
    stored = [p for p, f in paths.items() if is_there(f) or is_there(f.with_suffix(".json"))]
    committed = [p for p in stored if p in COMMITTED_PROFILES]
    return committed or stored or ["cpu"]
