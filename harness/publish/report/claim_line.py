"""A claim in one line: mark, statement, ours beside what was asked, seeds, and what to know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.declare.table import counted_seeds
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import MARKS, counted, rank
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
        read = self.read
        return f"{read.ours} ({read.uneven})" if read.uneven else read.ours

    @property
    def asked(self) -> str:
        return self.read.asked

    @property
    def seeds(self) -> str:
        return counted_seeds(self.row.num_seeds) if self.row.num_seeds else ""

    @property
    def paper(self) -> str:
        """The paper's number, where it prints one."""
        if self.row.paper_value is None:
            return ""
        derived = " (derived)" if self.row.paper_is_derived else ""
        return f"{number(self.read.row.paper_value)}{derived}"

    @property
    def note(self) -> str:
        """The reason, what would decide it, and whether it is exploratory, as a sentence begins."""
        row = self.row
        told = [row.reason if row.reason != OVERLAPS else ""]
        told += (
            [f"about {row.seeds_to_decide} seeds would decide it"] if row.seeds_to_decide else []
        )
        is_decided = row.grade == "empirical" and row.num_seeds and row.verdict != Word.UNTESTED
        told += ["exploratory"] if is_decided and not row.registered else []
        return sentence("; ".join(filter(None, told)))

    @property
    def numbers(self) -> str:
        """`Ours: 0.5 ± 0.1 octaves; asked: at most 1; 3 seeds.`, as far as there are any."""
        told = [f"ours: {self.ours}"] if self.ours else []
        told += [f"asked: {self.asked}"] if self.asked and self.ours else []
        told += [f"paper: {self.paper}"] if self.paper else []
        text = "; ".join([*told, *([self.seeds] if self.seeds and self.ours else [])])
        return sentence(text)

    @property
    def whole(self) -> str:
        """The line in plain text."""
        return self.said(self.row.statement)

    def said(self, statement: str) -> str:
        """The line in plain text, with another sentence in the place of the statement."""
        ends = [f"{part}." for part in (self.numbers, self.note) if part]
        return " ".join([f"{self.mark} {statement}", *ends])


def sentence(text: str) -> str:
    """Return a note as a sentence begins, without its full stop; a path stays as it is."""
    is_path = "/" in text.partition(" ")[0]
    return (text if is_path else f"{text[:1].upper()}{text[1:]}").rstrip(".")


def folded_head(folded: Sequence[ClaimLine]) -> str:
    """Return what stands for checks that are folded away."""
    plural = "" if len(folded) == 1 else "s"
    return counted([line.row for line in folded]) or f"{len(folded)} check{plural}, untested"


def in_order(rows: Iterable[CheckRow]) -> tuple[list[ClaimLine], list[ClaimLine]]:
    """Return what a page shows, what went worst first, and the checks that it folds away.

    Claims of the paper stand before our own questions.
    """
    rows = list(rows)
    quiet = [r for r in rows if r.kind == "check" and r.verdict in (Word.HOLDS, Word.UNTESTED)]
    shown = [row for row in rows if row not in quiet]
    shown.sort(key=lambda row: (rank(row.verdict), row.kind != "claim"))
    return [ClaimLine(row) for row in shown], [ClaimLine(row) for row in quiet]
