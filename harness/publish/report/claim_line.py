"""A claim in one line: mark, statement, ours beside what was asked, seeds, and what to know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.declare.criterion import STEPS
from harness.declare.table import counted_seeds
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import MARKS, rank
from harness.publish.report.text import cut, decimals_of, interval, mean_sem, number, threshold
from harness.publish.report.units import half_width, readable, unit_behind


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A verdict's row as every page and command shows it."""

    row: CheckRow

    @property
    def mark(self) -> str:
        return MARKS[Word(self.row.verdict)]

    @property
    def measured(self) -> str:
        """What was measured, with half of its interval where that lies evenly around it."""
        row = readable(self.row)
        if row.measured is None:
            return ""
        # As many decimals as keep it and the ends of its interval beside the threshold.
        half, decimals = half_width(row), decimals_of(row)
        if half is None:
            value = cut(row.measured, decimals)
        else:
            value = mean_sem(row.measured, half, decimals=decimals)
        # A step between two ratios is no multiple of anything, and has no unit.
        name = {"ratio": "" if row.form in STEPS else "times"}.get(row.unit, row.unit)
        unit = "" if name in ("", "1") else f" {unit_behind(value, name)}"
        factor = f", a factor of {2**row.measured:.2g}" if row.unit == "octaves" else ""
        return f"{value}{unit}{factor}"

    @property
    def ours(self) -> str:
        """What was measured with all of its interval, and which of several numbers it is."""
        row = readable(self.row)
        # An interval that lies unevenly, as that of a ratio.
        uneven = "" if half_width(row) is not None else interval(row)
        beside = "; ".join(filter(None, [uneven, self._which]))
        return f"{self.measured} ({beside})" if self.measured and beside else self.measured

    @property
    def asked(self) -> str:
        """What is asked of the number, in its unit where it has a number of its own."""
        row = readable(self.row)
        text = threshold(row.form, row.threshold) if row.form else ""
        if row.form in STEPS and row.measured is not None and " decides" not in row.deciding:
            # One step alone is a difference, which `deciding` names.
            form = "more_than" if row.form.startswith("strict") else "at_least"
            text = threshold(form, -row.threshold if row.threshold else 0.0)
        has_unit = text[-1:].isdigit() and row.unit not in ("", "1", "ratio")
        return f"{text} {unit_behind(text, row.unit)}" if has_unit and row.threshold != 0 else text

    @property
    def numbers(self) -> str:
        """`Ours 0.5 ± 0.1 octaves; asked at most 1; 3 seeds, exploratory`, as far as known."""
        row = self.row
        is_tested = bool(self.ours) and row.verdict != Word.UNTESTED
        asked = f"{'asked by us:' if row.kind == 'own' else 'asked'} {self.asked}"
        told = [f"ours {self.ours}", asked] if is_tested else []
        if row.paper_value is not None:
            computed = ", computed" if row.paper_is_derived else ""
            told.append(f"paper {number(readable(row).paper_value)}{computed}")
        if is_tested and row.num_seeds:
            exploratory = "" if row.registered or row.kind == "check" else ", exploratory"
            told.append(f"{counted_seeds(row.num_seeds)}{exploratory}")
        return sentence("; ".join(told))

    @property
    def _which(self) -> str:
        """Name the number that decides, where there are several: the worst that is needed."""
        row, count = self.row, len(self.row.parts)
        names = [part.name for part in row.parts if part.measured == row.measured]
        if not names or " of " in names[0]:
            return ""
        if row.at_least_of and row.at_least_of < count:
            return f"{names[0]}, one of {count}"
        return f"{names[0]}, the {'worse' if count == 2 else 'worst'} of {count}"

    @property
    def note(self) -> str:
        """Why it was not tested or decided, or what would decide it."""
        row = self.row
        if row.verdict == Word.UNTESTED:
            return f"Not tested: {row.reason.partition(': ')[2].rstrip('.')}"
        told = [row.reason] if row.reason and row.reason != OVERLAPS else []
        if row.seeds_to_decide:
            told.append(f"about {row.seeds_to_decide} seeds would decide it")
        return sentence("; ".join(told))

    @property
    def tail(self) -> str:
        """What follows the statement, in sentences."""
        return " ".join(f"{part}." for part in (self.numbers, self.note) if part)

    @property
    def whole(self) -> str:
        """The line in plain text."""
        return " ".join(filter(None, [self.mark, self.row.statement, self.tail]))


def sentence(text: str) -> str:
    """Return a note as a sentence begins, without its full stop; a path stays as it is."""
    is_path = "/" in text.partition(" ")[0]
    return (text if is_path else f"{text[:1].upper()}{text[1:]}").rstrip(".")


def in_order(rows: Iterable[CheckRow]) -> tuple[list[ClaimLine], list[ClaimLine]]:
    """Return what a page shows, what went worst first, and the checks that it folds away.

    Claims of the paper stand before our own questions.
    """
    rows = list(rows)
    quiet = [r for r in rows if r.kind == "check" and r.verdict in (Word.HOLDS, Word.UNTESTED)]
    shown = [row for row in rows if row not in quiet]
    shown.sort(key=lambda row: (rank(row.verdict), row.kind != "claim"))
    return [ClaimLine(row) for row in shown], [ClaimLine(row) for row in quiet]
