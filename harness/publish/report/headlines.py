"""What a paper's pages open with: a sentence per headline, chosen and numbered by its verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from harness.declare.claims import Criterion
from harness.declare.papers import Headline, Proviso
from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import SEALS, rank
from harness.publish.report.load import Entry, Paper, Run
from harness.publish.report.text import chance_note, seeds
from harness.publish.report.units import reading, what_number

DECIDED = {
    Word.REPRODUCED: "reproduced",
    Word.NOT_REPRODUCED: "not reproduced",
    Word.INCONCLUSIVE: "undecided",
}
SHOWN = SEALS[1:]
"""Seals that stand beside a verdict: a restated one asks and measures what it did."""
_VERDICT_THEN = re.compile(r"verdict: ([A-Z_]+) then, [A-Z_]+ now")


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A headline as it is shown."""

    entry: Entry
    row: CheckRow
    said: str
    """The sentence that its verdict chose, in plain text."""
    facts: str
    """Its numbers, seeds, verdict, and what must stand beside that."""
    proviso: str = ""
    """What another claim's verdict adds, without which the sentence would mislead."""

    @property
    def text(self) -> str:
        """The whole in plain text."""
        return f"{self.said}: {self.facts}{f'; {self.proviso}' if self.proviso else ''}."


def headlines(paper: Paper) -> list[Told]:
    """Return a paper's headlines, each from the largest profile that decided its claim.

    What did not hold stands first, then what is undecided. A headline whose claim has none of
    these verdicts is left out, as are those of a paper that is broken.
    """
    if paper.problem:
        return []
    found = [told for each in paper.meta.headlines if (told := _told(paper, each)) is not None]
    return sorted(found, key=lambda told: rank(told.row.verdict))


def _told(paper: Paper, headline: Headline) -> Told | None:
    found = _decided(paper, headline.claim)
    if found is None or found[2].kind != "claim":
        return None
    told = _sentence(headline, *found)
    return replace(told, proviso=_proviso(paper, headline.proviso, told.row))


def _decided(paper: Paper, claim: str) -> tuple[Entry, Run, CheckRow] | None:
    """Return where a claim, `fig06:supar_stays`, is decided, in the largest profile that does."""
    word, claim_id = claim.split(":")
    for entry in paper.entries:
        for run in entry.runs if entry.item.id == word else ():
            for row in run.rows:
                if row.claim == claim_id and row.decides and row.verdict in DECIDED:
                    return entry, run, row
    return None


def _proviso(paper: Paper, proviso: Proviso | None, row: CheckRow) -> str:
    """Return what must be said beside a claim that is reproduced, and on what that rests."""
    found = None if proviso is None else _decided(paper, proviso.claim)
    if proviso is None or found is None or row.verdict != Word.REPRODUCED:
        return ""
    other = found[2]
    said = _chosen(proviso, other)
    asked = "a question of our own" if other.kind == "own" else DECIDED[Word(other.verdict)]
    rests_on = ", ".join([asked, *([f"seal {other.seal}"] if other.seal in SHOWN else [])])
    return f"but {said} ({rests_on})" if said else ""


def _chosen(sentences: Headline | Proviso, row: CheckRow) -> str:
    """Return the sentence of a verdict."""
    said = {
        Word.REPRODUCED: sentences.yes,
        Word.NOT_REPRODUCED: sentences.no,
        Word.INCONCLUSIVE: sentences.undecided,
    }
    return said[Word(row.verdict)]


def caveats(row: CheckRow) -> list[str]:
    """Return what must stand beside a verdict: chance, doubts, a seal that does not hold."""
    # That chance is all but excluded needs no word here.
    chance = "" if row.weak is False and row.verdict == Word.REPRODUCED else chance_note(row)
    doubt = row.reason.partition(":")[0] if row.reason != OVERLAPS else ""
    then = [
        f"{DECIDED.get(Word(found[1]), found[1])} when it was first judged"
        for line in row.differences
        if (found := _VERDICT_THEN.fullmatch(line))
    ]
    seal = f"seal {row.seal}" if row.seal in SHOWN else ""
    return [part for part in (chance, doubt, seal, *then) if part]


def _sentence(headline: Headline, entry: Entry, run: Run, row: CheckRow) -> Told:
    """Return the sentence of a verdict, and behind it what was measured and on how many seeds."""
    assert entry.task is not None
    claim = next(claim for claim in entry.task.claims if claim.id == row.claim)
    facts = [*numbers(row, claim.criterion), DECIDED[Word(row.verdict)]]
    return Told(
        entry=entry,
        row=row,
        said=run.labels.text(_chosen(headline, row)),
        facts=", ".join([*facts, *caveats(row)]),
    )


def numbers(row: CheckRow, criterion: Criterion) -> list[str]:
    """Return what was measured, with what it is and an uneven interval, and on how many seeds."""
    read = reading(row, criterion.unit, criterion.tolerance)
    if not read.ours:
        return []
    what = what_number(row, criterion)
    told = f"{seeds(row)} ({what})" if what else seeds(row)
    return [f"{read.ours} ({read.uneven})" if read.uneven else read.ours, told]
