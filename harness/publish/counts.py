"""How verdicts are marked and counted, in the words that every page and command shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.declare.verdict import Word
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
    words = [*CLAIMS, *([Word.ERROR] if counts.get(Word.ERROR) else [])]
    marks = " ".join(f"{MARKS[word]} {counts.get(word, 0)}" for word in words)
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
        f"If none of the {count} supported claims were true, about {0.025 * count:.1g} of them"
        " would still look supported by chance."
    )


def if_thresholds_moved(rows: Iterable[CheckRow]) -> str:
    """Say how many verdicts stay where thresholds of ours are halved or doubled."""
    known = [row for row in rows if row.kind == "claim" and row.if_halved]
    if not known:
        return ""
    halved = sum(row.if_halved == row.verdict for row in known)
    doubled = sum(row.if_doubled == row.verdict for row in known)
    return (
        f"Of {len(known)} verdicts by a threshold of ours, {halved} stay if it is halved and"
        f" {doubled} if it is doubled."
    )


def registered_in_words(rows: Iterable[CheckRow]) -> str:
    """Say how many decided claims were registered before their trials ran."""
    decided = [r for r in rows if r.kind == "claim" and r.verdict in CLAIMS[:3]]
    count = sum(row.registered for row in decided)
    if not decided or count == len(decided):
        return "All decided claims were registered before the run." if decided else ""
    return f"Registered before the run: {count} of {len(decided)}; the others are exploratory."
