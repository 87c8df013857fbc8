"""What came out of a table or figure, in one sentence that opens its section of every page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.declare.claims import Claim
from harness.declare.verdict import Word
from harness.publish.check_row import CheckRow, Kind
from harness.publish.counts import checks_in_words, claims_in_words, own_in_words, rank
from harness.publish.labels import Labels
from harness.publish.report.headlines import Told, caveats, numbers
from harness.publish.report.load import Entry, Run
from harness.publish.report.units import reading

LEADS: dict[Kind, dict[Word, str]] = {
    "claim": {
        Word.ERROR: "Not known, as its evaluation failed",
        Word.NOT_REPRODUCED: "Not reproduced",
        Word.INCONCLUSIVE: "Undecided",
        Word.REPRODUCED: "Reproduced",
    },
    "own": {
        Word.ERROR: "Not known, as its evaluation failed",
        Word.NOT_REPRODUCED: "No, to a question of our own",
        Word.INCONCLUSIVE: "Undecided, of a question of our own",
        Word.REPRODUCED: "Yes, to a question of our own",
    },
    "check": {
        Word.ERROR: "Not known, as the evaluation of a check failed",
        Word.FAILS: "A check of our code FAILS",
    },
}
"""What stands before the claim that went worst: of checks those alone that do not hold."""
_FIRST_SENTENCE = re.compile(r"(?<=[a-z0-9)%])\. (?=[A-Z])")


def answer(entry: Entry, headlines: Sequence[Told] = ()) -> str:
    """Return what came out of an item, in one sentence; nothing where its state says all.

    What went worst is written out, and all is counted behind it, claims of the paper before our
    own questions. An item without either says what it shows. headlines: those of its paper, one
    of which may say it better.
    """
    if not entry.runs or entry.task is None:
        return ""
    run = next((run for run in entry.runs if run.profile != "smoke"), None)
    if run is None:
        shown = "It was run at `smoke` alone, which shows that everything works and decides nothing"
        return f"{'; '.join(filter(None, [shown, entry.waits]))}."
    if run.problem:
        return "Nothing is known of it: the stored result cannot be used."
    parts = [_worst(entry, run, "check"), *_claims(entry, run, headlines), *_own(entry, run)]
    if not any(row.kind in ("claim", "own") for row in run.rows):
        parts += [_shown(entry, run), checks_in_words(run.rows)]
    text = "; ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}."


def _claims(entry: Entry, run: Run, headlines: Sequence[Told]) -> list[str]:
    """Return the claim that went worst, by its headline if it has one, and the counts of all."""
    counts = claims_in_words(run.rows, chance=False)
    worst = _worst(entry, run, "claim", {h.row.claim: h for h in headlines if h.entry is entry})
    if not (counts and worst):
        return [f"no claim of the paper is decided here: {counts}"] if counts else []
    return [worst, f"claims in all: {counts}" if _is_one_of_several(run.rows, "claim") else ""]


def _own(entry: Entry, run: Run) -> list[str]:
    """Return the counts of our own questions; where the paper has no claim, the worst of them."""
    counts = own_in_words(run.rows)
    if any(row.kind == "claim" for row in run.rows) or not counts:
        return [counts]
    worst = _worst(entry, run, "own")
    return [worst, counts if not worst or _is_one_of_several(run.rows, "own") else ""]


def _is_one_of_several(rows: Sequence[CheckRow], kind: Kind) -> bool:
    return sum(row.decides and row.kind == kind for row in rows) > 1


def _worst(entry: Entry, run: Run, kind: Kind, told: Mapping[str, Told] | None = None) -> str:
    """Return the verdict of one kind that went worst, with its numbers; nothing without any."""
    told, leads = told or {}, LEADS[kind]
    found = [r for r in run.rows if r.decides and r.kind == kind and r.verdict in leads]
    if not found or entry.task is None:
        return ""
    row = min(found, key=lambda row: (rank(row.verdict), row.claim not in told))
    if row.claim in told:
        return told[row.claim].text.removesuffix(".")
    claim = next(claim for claim in entry.task.claims if claim.id == row.claim)
    read = reading(row, claim.criterion.unit, claim.criterion.tolerance)
    asked = f"asked: {read.asked}" if read.asked else ""
    facts = ", ".join(filter(None, [*numbers(row, claim.criterion), asked, *caveats(row)]))
    said = in_short(claim, run.labels).removesuffix(".")
    return f"{leads[Word(row.verdict)]}: {said}{f': {facts}' if facts else ''}"


def in_short(claim: Claim, labels: Labels) -> str:
    """Return the first sentence of a claim; the others say how it is measured, and why so."""
    first = _FIRST_SENTENCE.split(claim.statement)[0]
    return labels.statement(replace(claim, statement=f"{first.removesuffix('.')}."))


def _shown(entry: Entry, run: Run) -> str:
    """Say of an item without claims what it shows."""
    assert entry.task is not None
    what = _FIRST_SENTENCE.split(entry.task.alt or run.labels.text(entry.item.title))[0]
    # A name, as AdamW, keeps its capital.
    plain = what[:1].lower() + what[1:] if re.match(r"[A-Z][a-z]*(?![\w-])", what) else what
    return f"It shows {plain.removesuffix('.')}; nothing is claimed of it"
