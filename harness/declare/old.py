"""Forms of declarations that papers still use while they are rewritten; it goes with the last."""

from __future__ import annotations

from typing import Any

from harness.declare.claims import Claim, Criterion, Scope
from harness.declare.table import Table
from harness.declare.task import KINDS, Task


def flat_claim(
    *,
    id: str,
    statement: str,
    where: str,
    form: Any,
    grade: Any,
    quantity: Any,
    threshold: Any,
    threshold_from: Any,
    profiles: Any,
    out_of_profile: str = "this scale cannot show it",
    tolerance: float = 0.0,
    deterministic: bool = False,
    unit: str = "",
    paper_value: Any = None,
    cohort: str = "first",
) -> Claim:
    """Return a claim from flat fields."""
    criterion = Criterion(
        form=form,
        quantity=quantity,
        threshold=threshold,
        unit=unit,
        tolerance=tolerance,
        paper_value=paper_value,
    )
    scope = Scope(
        grade=grade,
        threshold_from=threshold_from,
        profiles=profiles,
        elsewhere=out_of_profile,
        deterministic=deterministic,
        cohort=cohort,
    )
    return Claim(id=id, statement=statement, where=where, criterion=criterion, scope=scope)


def old_task(
    *,
    id: str,
    reads: Any,
    columns: Table,
    title: str = "",
    claims: Any = (),
    view: Any = None,
    figure: Any = None,
    caption: str = "",
    alt: str = "",
    kind: Any = None,
) -> Task:
    """Return a task whose functions are given, not named."""
    return Task(
        id,
        reads=reads,
        table=Table(columns.columns, view),
        claims=tuple(claims),
        figure=figure,
        caption=caption,
        alt=alt,
        own_kind=kind if id.split("/")[1][:3] not in KINDS else None,
        package="old",
    )


Columns = Table
