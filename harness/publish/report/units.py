"""Verdicts in the units that readers of papers use: points, percent, factors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.publish.check_row import CheckRow

READ_AS = {
    "accuracy": "points",
    "F1": "points of F1",
    "error": "points",
    "share": "%",
    "share of parameters": "% of the parameters",
    "share of the time": "% of the time",
    "share above the formula": "% above the formula",
    "relative": "%",
    "relative difference": "%",
    "relative gap": "%",
    "relative loss": "% of the loss",
}
"""From a claim's unit to that of its number times a hundred. Stored rows keep theirs."""
ONE_OF = {"octaves": "octave", "nats": "nat", "points": "point", "seeds": "seed"}


def unit_behind(text: str, unit: str) -> str:
    """Return a unit as it stands behind a number: one of it has no plural.

    >>> unit_behind("at least 1", "octaves"), unit_behind("1.0", "points")
    ('octave', 'points')
    """
    return ONE_OF.get(unit, unit) if text.split()[-1:] in (["1"], ["-1"]) else unit


def readable(row: CheckRow) -> CheckRow:
    """Return a verdict with its numbers, threshold and paper's value in a reader's unit."""
    if row.unit not in READ_AS:
        return row
    numbers: tuple[str, ...] = ("measured", "low", "high")
    parts = [
        replace(part, **{name: _hundredfold(getattr(part, name)) for name in numbers})
        for part in row.parts
    ]
    numbers += ("threshold", "paper_value")
    scaled = {name: _hundredfold(getattr(row, name)) for name in numbers}
    return replace(row, parts=tuple(parts), unit=READ_AS[row.unit], **scaled)


def _hundredfold(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_hundredfold(bound) for bound in value]
    # Twelve digits: no rounding error of the product is shown, and nothing measured is lost.
    return None if value is None else float(f"{100.0 * float(value):.12g}")


def half_width(row: CheckRow) -> float | None:
    """Return half of an interval that lies evenly around what was measured, else None."""
    if row.measured is None or row.low is None or row.high is None or not row.high > row.low:
        return None
    half = (row.high - row.low) / 2
    return half if abs(row.low + half - row.measured) <= 1e-6 * half else None
