"""A claim in one line: mark, statement, ours beside what was asked, seeds, and what to know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.declare.table import counted_seeds
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import MARKS, rank
from harness.publish.report.text import number
from harness.publish.report.units import Reading, reading


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A verdict's row as every page and command shows it."""

    row: CheckRow

    @property
    def mark(self) -> str:
        return MARKS[Word(self.row.verdict)]

    @property
    def read(self) -> Reading:
        return reading(self.row)

    @property
    def ours(self) -> str:
        """What was measured with its interval, or nothing."""
        beside = "; ".join(filter(None, [self.read.uneven, self._which]))
        return f"{self.read.ours} ({beside})" if self.read.ours and beside else self.read.ours

    @property
    def numbers(self) -> str:
        """`Ours 0.5 ± 0.1 octaves; asked at most 1; 3 seeds, exploratory`, as far as known."""
        row = self.row
        is_tested = bool(self.ours) and row.verdict != Word.UNTESTED
        asked = f"{'asked by us:' if row.kind == 'own' else 'asked'} {self.read.asked}"
        told = [f"ours {self.ours}", asked] if is_tested else []
        if row.paper_value is not None:
            computed = ", computed" if row.paper_is_derived else ""
            told.append(f"paper {number(self.read.row.paper_value)}{computed}")
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
