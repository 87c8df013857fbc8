"""Verdicts as they were stored with their results: nothing is judged, no table is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.publish.check_row import CheckRow
from harness.publish.judge import judge
from harness.store.result import load_meta
from harness.store.workspace import Workspace


def stored_rows(workspace: Workspace, task: Task, profile: Profile) -> list[CheckRow]:
    """Return a row per declared claim: as stored, else why there is none.

    `repro check` decides anew instead. Raises DataError for a damaged result.
    """
    meta = load_meta(workspace, task, profile)
    verdicts = [] if meta is None else meta.verdicts
    stored = {(row.claim, row.cohort): row for row in map(_row, verdicts)}
    # Who asks it is declared: a result that was stored before it was said need not be made anew.
    own = {claim.id: claim.scope.own_question for claim in task.claims}
    absent = judge(task, None, profile, None, overrides=workspace.overrides).rows
    return [
        *(replace(r, own_question=own[r.claim]) for r in stored.values() if r.claim in own),
        *(row for row in absent if (row.claim, row.cohort) not in stored),
    ]


def _row(body: Mapping[str, Any]) -> CheckRow:
    """Return a stored row; fields that came or went since keep their defaults."""
    return CheckRow(
        **{each.name: body[each.name] for each in fields(CheckRow) if each.name in body}
    )
