"""What a paper's pages open with: a sentence per headline, chosen and numbered by its verdict."""

from __future__ import annotations

from dataclasses import dataclass

from harness.declare.papers import Headline
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import SEALS
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.text import chance_note, seeds
from harness.publish.report.units import reading

DECIDED = {
    Word.REPRODUCED: "reproduced",
    Word.NOT_REPRODUCED: "not reproduced",
    Word.INCONCLUSIVE: "undecided",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A headline as it is shown."""

    entry: Entry
    row: CheckRow
    text: str
    """The sentence with its numbers, seeds and verdict, in plain text."""


def headlines(paper: Paper) -> list[Told]:
    """Return a paper's headlines, each from the largest profile that decided its claim.

    One whose claim is not decided has none, nor has a paper that is broken.
    """
    if paper.problem:
        return []
    return [told for each in paper.meta.headlines if (told := _told(paper, each)) is not None]


def _told(paper: Paper, headline: Headline) -> Told | None:
    word, claim_id = headline.claim.split(":")
    for entry in paper.entries:
        for run in entry.runs if entry.item.id == word else ():
            for row in run.rows:
                is_meant = row.claim == claim_id and row.decides and row.kind == "claim"
                if is_meant and row.verdict in DECIDED:
                    return Told(entry=entry, row=row, text=_sentence(headline, entry, run, row))
    return None


def _caveats(row: CheckRow) -> list[str]:
    """Return what must stand beside a verdict: chance, doubts, a seal that does not hold."""
    # That chance is all but excluded needs no word here.
    chance = "" if row.weak is False and row.verdict == Word.REPRODUCED else chance_note(row)
    doubt = row.reason.partition(":")[0] if row.reason != OVERLAPS else ""
    then = [line for line in row.differences if line.startswith("verdict: ")]
    seal = f"seal {row.seal}" if row.seal in SEALS[1:] else ""
    return [part for part in (chance, doubt, seal, *then) if part]


def _sentence(headline: Headline, entry: Entry, run: Run, row: CheckRow) -> str:
    """Return the sentence of a verdict, and behind it what was measured and on how many seeds."""
    assert entry.task is not None
    said = {
        Word.REPRODUCED: headline.yes,
        Word.NOT_REPRODUCED: headline.no,
        Word.INCONCLUSIVE: headline.undecided,
    }
    claim = next(claim for claim in entry.task.claims if claim.id == row.claim)
    read = reading(row, claim.criterion.unit)
    deciding = f"{row.deciding} decides" if row.deciding else ""
    aside = ", ".join(filter(None, [read.uneven, deciding]))
    numbers = f"{read.ours} ({aside})" if aside else read.ours
    facts = [numbers, seeds(row) if numbers else "", DECIDED[Word(row.verdict)], *_caveats(row)]
    return f"{run.labels.text(said[Word(row.verdict)])}: {', '.join(filter(None, facts))}."
