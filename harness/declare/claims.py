"""Claims as objects: a statement, what must be measured of it, and where that is decided."""

from __future__ import annotations

from dataclasses import dataclass

from harness.declare.criterion import Criterion
from harness.declare.scope import Scope
from harness.errors import SpecError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Claim:
    """One checkable statement, evaluated on a task's table."""

    id: str
    """Short word, unique in its task."""
    statement: str
    """The claim in our words."""
    where: str
    """Where the paper says it."""
    criterion: Criterion
    scope: Scope

    def __post_init__(self) -> None:
        if self.criterion.form == "equal" and not self.scope.deterministic:
            raise SpecError(f"claim {self.id}: equality over seeds must be one number for all")


def claims(where: str, *declared: tuple[str, Scope, Criterion, str]) -> tuple[Claim, ...]:
    """Return claims on what one place of the paper says.

    declared: id, scope, criterion, and the statement in our words.
    """
    return tuple(
        Claim(id=id, statement=statement, where=where, criterion=criterion, scope=scope)
        for id, scope, criterion, statement in declared
    )
