"""What a paper's pages open with: a sentence per headline, chosen and numbered by its verdict."""

from __future__ import annotations

from dataclasses import dataclass

from harness.declare.papers import Headline
from harness.declare.verdict import Word
from harness.publish.counts import rank
from harness.publish.report.claim_line import ClaimLine, sentence
from harness.publish.report.load import Entry, Paper


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A headline as it is shown."""

    entry: Entry
    line: ClaimLine
    said: str
    """The sentence that its verdict chose."""

    @property
    def text(self) -> str:
        """The whole in plain text."""
        ends = [f"{part}." for part in (self.line.numbers, sentence(self.line.note)) if part]
        return " ".join([f"{self.line.mark} {self.said}.", *ends])


def headlines(paper: Paper) -> list[Told]:
    """Return a paper's headlines, each from the best profile that its claim was run at.

    What is contradicted stands first. A headline that was run nowhere is left out.
    """
    found = [told for each in paper.meta.headlines if (told := _told(paper, each)) is not None]
    return sorted(found, key=lambda told: rank(told.line.row.verdict))


def _told(paper: Paper, headline: Headline) -> Told | None:
    word, claim = headline.claim.split(":")
    for entry in paper.entries:
        for run in entry.runs if entry.item.id == word else ():
            for row in run.rows:
                if row.claim == claim and run.profile != "smoke":
                    said = _chosen(headline, row.verdict, row.statement)
                    return Told(entry=entry, line=ClaimLine(row), said=said)
    return None


def _chosen(headline: Headline, verdict: str, statement: str) -> str:
    """Return the sentence of a verdict; of what was not tested, the claim itself."""
    said = {
        Word.SUPPORTED: headline.yes,
        Word.CONTRADICTED: headline.no,
        Word.UNDECIDED: headline.undecided,
    }
    return said.get(Word(verdict), statement.rstrip("."))
