"""How a claim stands to its sealed side: the export's, or that of its records."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from harness.declare.claims import Claim
from harness.declare.cohorts import FIRST
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.provenance.before import Before, Former
from harness.provenance.restated import Restated
from harness.provenance.seals import Comparison, Seal, Sealed, State, compare, seal_name
from harness.publish.evidence import Evidence
from harness.store.meta import ResultMeta


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
    read = functools.partial(seal_in, name=name, profile=speaking, restated=restated)
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


def seal_in(seals: Mapping[str, Any], name: str, profile: str, restated: Restated) -> Seal | None:
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
