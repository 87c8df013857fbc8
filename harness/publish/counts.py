"""How verdicts are marked and counted, in the words that every page and command shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.declare.verdict import NO_CONTROL, Word
from harness.publish.check_row import CheckRow, Kind

CLAIMS = (Word.SUPPORTED, Word.CONTRADICTED, Word.UNDECIDED, Word.UNTESTED)
WORST_FIRST = (Word.ERROR, Word.FAILS, Word.CONTRADICTED, Word.UNDECIDED, Word.SUPPORTED)
"""Verdicts in the order in which a page shows them; all others follow."""
MARKS = {
    Word.HOLDS: "✔",
    Word.FAILS: "✘",
    Word.SUPPORTED: "✔",
    Word.CONTRADICTED: "✘",
    Word.UNDECIDED: "?",
    Word.UNTESTED: "–",  # noqa: RUF001 - a dash, as readers know it
    Word.ERROR: "!",
}


def verdict_counts(rows: Iterable[CheckRow], kind: Kind) -> dict[Word, int]:
    """Count the verdicts of one kind, in the order of `Word`."""
    counts = Counter(row.verdict for row in rows if row.kind == kind)
    return {word: counts[word] for word in Word if counts[word]}


def rank(word: str) -> int:
    """Return a verdict's place on a page: what went worst stands first."""
    return WORST_FIRST.index(Word(word)) if word in WORST_FIRST else len(WORST_FIRST)


def counted(rows: Sequence[CheckRow]) -> str:
    """Count claims, our own questions and checks, each apart."""
    told = [_in_marks(rows, "claim", "claim"), _in_marks(rows, "own", "question of our own")]
    return "; ".join(filter(None, [*told, checks_in_words(rows)]))


def _in_marks(rows: Sequence[CheckRow], kind: Kind, noun: str) -> str:
    counts = verdict_counts(rows, kind)
    total = sum(counts.values())
    if not total:
        return ""
    marks = ", ".join(f"{MARKS[word]} {counts[word]} {word.lower()}" for word in counts)
    plural = noun if total == 1 else noun.replace("claim", "claims").replace("tion", "tions")
    return f"{total} {plural}: {marks}"


def checks_in_words(rows: Iterable[CheckRow]) -> str:
    """Count the checks that were evaluated: `57 of 58 checks hold`; nothing without any."""
    counts = verdict_counts(rows, "check")
    counts.pop(Word.UNTESTED, None)
    total, held = sum(counts.values()), counts.get(Word.HOLDS, 0)
    if not total:
        return ""
    return f"{held} of {total} {'check holds' if total == 1 else 'checks hold'}"


def by_luck(rows: Iterable[CheckRow]) -> str:
    """Say how many claims would be supported by luck; nothing where none is supported."""
    count = verdict_counts(rows, "claim").get(Word.SUPPORTED, 0)
    if not count:
        return ""
    return (
        f"If all {count} supported claims were false, chance alone would still support about"
        f" {0.025 * count:.1g} of them."
    )


def if_thresholds_moved(rows: Iterable[CheckRow]) -> str:
    """Say how many verdicts stay where thresholds of ours are halved or doubled."""
    known = [row for row in rows if row.kind == "claim" and row.if_halved]
    if not known:
        return ""
    halved = sum(row.if_halved == row.verdict for row in known)
    doubled = sum(row.if_doubled == row.verdict for row in known)
    return (
        f"Of {len(known)} verdicts that rest on a threshold of ours, {halved} stay when it is"
        f" halved and {doubled} when it is doubled."
    )


def missed_in_words(rows: Iterable[CheckRow]) -> str:
    """Say how many undecided claims were missed, and only lack a positive control."""
    undecided = [r for r in rows if r.kind == "claim" and r.verdict == Word.UNDECIDED]
    missed = sum(row.reason == NO_CONTROL for row in undecided)
    if not missed:
        return ""
    return (
        f"Of the {len(undecided)} undecided claims {missed} missed what is asked, but have no"
        " positive control, so that our setting may be at fault."
    )


def registered_in_words(rows: Iterable[CheckRow]) -> str:
    """Say how many decided claims were registered before their trials ran."""
    decided = [r for r in rows if r.kind == "claim" and r.verdict in CLAIMS[:3]]
    count = sum(row.registered for row in decided)
    if not decided or count == len(decided):
        return "All verdicts were registered before the run." if decided else ""
    if not count:
        return "No claim was registered before the run, so every verdict is exploratory."
    return (
        f"{count} of {len(decided)} verdicts were registered before the run; the others are"
        " exploratory."
    )
