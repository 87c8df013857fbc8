"""How the record of a trial that was run again agrees with the committed one.

Pure: two records in, a word with its reason out. What claims make of a difference is asked of
`harness.provenance.spread`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from harness.declare.experiment import Row, Status
from harness.store.record import Record

OutcomeWord = Literal["bit", "close", "spread", "differs", "not_run"]
"""`bit`: every cell is equal; `close`: floats within 1e-4, the rest equal; `spread`: each claim's
sample moves by less than its seeds spread; else `differs`. `not_run`: it cannot run here."""
RELATIVE = 1e-4
"""Another processor adds in another order; a changed method changes more."""
ABSOLUTE = 1e-9
"""For values that are zero but for rounding."""
ABSENT = "absent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """What came of one trial that was run again."""

    outcome: OutcomeWord
    reason: str = ""
    relative: float | None = None
    """Largest relative difference of two numbers; None where rows could not be compared."""
    column: str = ""
    """Where it occurs; empty where no number differs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Whether the claims stay within the spread of their seeds, and what says so."""

    within: bool
    reason: str


def compare(
    old: Record, new: Record, *, measured: Collection[str], spread: Callable[[], Spread]
) -> Comparison:
    """Say how the record of a trial that was run again agrees with the committed one.

    measured: columns to leave out. spread: asked only where rows differ beyond rounding.
    """
    if new.status == Status.SKIPPED:
        return Comparison(outcome="not_run", reason=new.note)
    if new.status != old.status:
        reason = f"{old.status} then, {new.status} now{_kind_of_failure(new)}"
        return Comparison(outcome="differs", reason=reason)
    if len(old.rows) != len(new.rows):
        reason = f"{len(old.rows)} rows then, {len(new.rows)} now"
        return Comparison(outcome="differs", reason=reason)
    found = compare_rows(old.rows, new.rows, measured=measured)
    if found.outcome != "differs":
        return found
    judged = spread()
    reasons = "; ".join(reason for reason in (found.reason, judged.reason) if reason)
    return replace(found, outcome="spread" if judged.within else "differs", reason=reasons)


def _kind_of_failure(new: Record) -> str:
    """Return what failed, in the runner's words or as an exception's name.

    What follows it may name a folder of this machine.
    """
    kind = new.note.partition(":")[0] if new.status == Status.FAILED else ""
    known = re.fullmatch(r"[\w.]+|it ran longer than \S+ s|its worker died[\w ()-]*", kind)
    return f": {kind}" if known else ""


def compare_rows(
    old: Sequence[Row], new: Sequence[Row], *, measured: Collection[str] = ()
) -> Comparison:
    """Compare as many rows with as many, cell by cell; the reason names the first odd cell.

    An odd cell is one that differs and is not a float on both sides.
    """
    largest, column, odd, is_equal = 0.0, "", "", True
    for number, (before, after) in enumerate(zip(old, new, strict=True)):
        for name in sorted((before.keys() | after.keys()) - set(measured)):
            left, right = before.get(name, ABSENT), after.get(name, ABSENT)
            if type(left) is type(right) and left == right:
                continue
            is_equal = False
            if not (isinstance(left, float) and isinstance(right, float)):
                odd = odd or f"row {number} {name}: {left!r:.40} then, {right!r:.40} now"
            if _is_number(left) and _is_number(right):
                moved = relative_difference(left, right)
                if moved > largest:
                    largest, column = moved, name
    outcome: OutcomeWord = "bit" if is_equal else "close"
    if odd or largest > RELATIVE:
        outcome = "differs"
    return Comparison(outcome=outcome, reason=odd, relative=largest, column=column)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def relative_difference(old: Any, new: Any) -> float:
    """Return the distance of two numbers over the larger size, at most 2.

    Sizes below 1e-5 count as 1e-5, so that the one limit of 1e-4 lets 1e-9 pass for zero.

    >>> relative_difference(100.0, 101.0) < 0.01, relative_difference(0.0, 1e-9) <= RELATIVE
    (True, True)
    """
    return float(min(abs(old - new) / size_of(old, new), 2.0))


def size_of(old: Any, new: Any) -> float:
    """Return what the distance of two numbers is compared with."""
    return float(max(abs(old), abs(new), ABSOLUTE / RELATIVE))
