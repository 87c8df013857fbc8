"""What differs between two sets of verdicts: rows as `results/verdicts.json` holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.errors import UsageError
from harness.publish.report.text import number

Row = Mapping[str, Any]
Kind = Literal["verdict", "number", "question", "remark", "added", "gone"]
QUESTION = (
    "form", "threshold", "statement", "grade", "threshold_from", "own_question", "half_of",
)  # fmt: skip
"""What a claim asks: where it differs, numbers do not compare."""
NUMBERS = (
    "measured", "low", "high", "num_seeds", "paper_value", "chance_rate", "seeds_to_decide",
)  # fmt: skip
HEADS: dict[Kind, str] = {
    "verdict": "Verdicts that changed",
    "number": "Numbers that moved",
    "question": "Asks something else now",
}
COUNTED: dict[Kind, str] = {
    "remark": "Claims that differ in seal or remarks alone, which --json lists",
    "added": "Claims added, which --json lists",
    "gone": "Claims gone, which --json lists",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A claim that is not as it was."""

    kind: Kind
    before: Row | None
    after: Row | None
    fields: tuple[str, ...] = ()
    """What differs, in the order of the rows."""

    @property
    def row(self) -> Row:
        return self.after or self.before or {}

    @property
    def name(self) -> str:
        row = self.row
        cohort = "" if row["cohort"] == "first" else f"@{row['cohort']}"
        return f"{row['task']}:{row['claim']}{cohort} at {row['profile']}"

    def to_json(self) -> dict[str, Any]:
        told = {name: self.row[name] for name in ("task", "claim", "profile", "cohort")}
        sides = {"before": self.before, "after": self.after}
        values = {
            side: None if row is None else {name: row.get(name) for name in self.fields}
            for side, row in sides.items()
        }
        return {"kind": self.kind, **told, "fields": list(self.fields), **values}


def compare(before: Iterable[Row], after: Iterable[Row]) -> list[Difference]:
    """Return what differs: verdicts first, then numbers, questions, remarks, added and gone.

    Raises UsageError where the rows of the two sides are not of one and the same schema.
    """
    old, new = ({_key(row): row for row in rows} for rows in (before, after))
    versions = {row["schema_version"] for row in [*old.values(), *new.values()]}
    if len(versions) > 1:
        raise UsageError(
            f"their verdicts are of schemas {' and '.join(map(str, sorted(versions)))}, which do"
            " not compare: name two that are of one, or let repro report write both anew"
        )
    found = [_difference(old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]
    order = [*HEADS, *COUNTED]
    return sorted(filter(None, found), key=lambda each: order.index(each.kind))


def _key(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in ("task", "claim", "profile", "cohort"))


def _difference(before: Row | None, after: Row | None) -> Difference | None:
    if before is None or after is None:
        return Difference(kind="added" if before is None else "gone", before=before, after=after)
    names = dict.fromkeys([*before, *after])
    # What was overridden tells two sides apart, not a claim on them.
    fields = tuple(n for n in names if n != "overrides" and before.get(n) != after.get(n))
    if not fields:
        return None
    kind: Kind = "remark"
    if any(name in QUESTION for name in fields):
        kind = "question"
    elif "verdict" in fields:
        kind = "verdict"
    elif any(name in NUMBERS for name in fields):
        kind = "number"
    return Difference(kind=kind, before=before, after=after, fields=fields)


def diff_text(found: Sequence[Difference], before: str, after: str) -> str:
    """Return what `repro diff` prints: a line per claim, what was added or is gone as counts."""
    parts = [f"{before} -> {after}"]
    for kind, head in HEADS.items():
        lines = [f"  {each.name}: {_told(each)}" for each in found if each.kind == kind]
        parts += ["\n".join([f"{head} ({len(lines)}):", *lines])] if lines else []
    counts = {kind: sum(each.kind == kind for each in found) for kind in COUNTED}
    lines = [f"{COUNTED[kind]}: {n}." for kind, n in counts.items() if n]
    parts += ["\n".join(lines)] if lines else []
    return "\n\n".join(parts if found else [*parts, "No verdict differs."])


def _told(each: Difference) -> str:
    if each.before is None or each.after is None:
        return ""
    told = []
    if "verdict" in each.fields:
        told.append(f"{each.before['verdict']} -> {each.after['verdict']}")
    names = QUESTION if each.kind == "question" else NUMBERS
    moved = [name for name in names if name in each.fields]
    if each.kind != "question":
        # One number tells it: the measured one, else the first of what is beside it.
        moved = moved[:1]
    told += [_step(name, each.before[name], each.after[name]) for name in moved]
    return ", ".join(told)


def _step(name: str, before: Any, after: Any) -> str:
    if name == "statement":
        return "other words"
    step = f"{_written(before)} -> {_written(after)}"
    if _written(before) == _written(after):
        step = f"{before:.9g} -> {after:.9g}"
    return step if name == "measured" else f"{name} {step}"


def _written(value: Any) -> str:
    return number(value) if isinstance(value, float) else "none" if value is None else str(value)
