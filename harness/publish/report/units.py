"""Verdicts in the units that readers of papers use: points, percent, factors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from harness.declare.criterion import STEPS
from harness.publish.check_row import CheckRow
from harness.publish.report.text import (
    cut,
    decimals_of,
    interval,
    mean_sem,
    threshold,
)

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A verdict whose numbers, threshold and paper's value are in a reader's unit."""

    row: CheckRow
    unit: str

    @property
    def ours(self) -> str:
        """Return the measured number with half of its interval where that lies evenly around it.

        Nothing where nothing was measured.
        """
        row = self.row
        if row.measured is None:
            return ""
        # As many decimals as keep it and the ends of its interval beside the threshold.
        half, decimals = half_width(row), decimals_of(row)
        if half is None:
            value = cut(row.measured, decimals)
        else:
            value = mean_sem(row.measured, half, decimals=decimals)
        # A step between two ratios is no multiple of anything, and has no unit.
        name = {"ratio": "" if row.form in STEPS else "times"}.get(self.unit, self.unit)
        unit = "" if name in ("", "1") else f" {unit_behind(value, name)}"
        factor = f", a factor of {2**row.measured:.2g}" if self.unit == "octaves" else ""
        return f"{value}{unit}{factor}"

    @property
    def asked(self) -> str:
        """Return what is asked of the number, in its unit where it has a number of its own."""
        row = self.row
        text = threshold(row.form, row.threshold) if row.form else ""
        if row.form in STEPS and row.measured is not None and " decides" not in row.deciding:
            # One step alone is a difference, which `deciding` names.
            form = "more_than" if row.form.startswith("strict") else "at_least"
            text = threshold(form, -row.threshold if row.threshold else 0.0)
        has_unit = text[-1:].isdigit() and self.unit not in ("", "1", "ratio")
        return f"{text} {unit_behind(text, self.unit)}" if has_unit and row.threshold != 0 else text

    @property
    def uneven(self) -> str:
        """Return the interval where `ours` does not hold it, as that of a ratio."""
        return "" if half_width(self.row) is not None else interval(self.row)


def reading(row: CheckRow) -> Reading:
    """Return a verdict as readers have it; one in another unit stays as it is."""
    if row.unit not in READ_AS:
        return Reading(row=row, unit=row.unit)
    numbers: tuple[str, ...] = ("measured", "low", "high")
    parts = [
        replace(part, **{name: _hundredfold(getattr(part, name)) for name in numbers})
        for part in row.parts
    ]
    numbers += ("threshold", "paper_value")
    scaled = {name: _hundredfold(getattr(row, name)) for name in numbers}
    return Reading(row=replace(row, parts=tuple(parts), **scaled), unit=READ_AS[row.unit])


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
