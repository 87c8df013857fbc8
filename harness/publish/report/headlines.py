"""What a paper's pages open with: its headline claims, each with its verdict."""

from __future__ import annotations

from dataclasses import dataclass

from harness.publish.report.claim_line import ClaimLine
from harness.publish.report.load import Entry, Paper


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A headline as it is shown."""

    entry: Entry
    line: ClaimLine

    @property
    def text(self) -> str:
        """The whole in plain text."""
        return self.line.whole


def headlines(paper: Paper) -> list[Told]:
    """Return a paper's headline claims in their order, each at the best profile that ran it."""
    return [told for each in paper.meta.headline if (told := _told(paper, each)) is not None]


def _told(paper: Paper, headline: str) -> Told | None:
    word, claim = headline.split(":")
    for entry in paper.entries:
        for run in entry.runs if entry.item.id == word else ():
            for row in run.rows:
                if row.claim == claim and run.profile != "smoke":
                    return Told(entry=entry, line=ClaimLine(row))
    return None
