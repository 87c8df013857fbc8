"""What `repro check` prints, in 80 columns: counts per paper, then what is against a claim."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from harness.declare.verdict import Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import counted, rank
from harness.publish.report.claim_line import ClaimLine

WIDTH = 80
OPEN = (Word.CONTRADICTED, Word.UNDECIDED)


def check_text(rows: Sequence[CheckRow], *, everything: bool = False, brief: bool = False) -> str:
    """Return the counts of each paper and profile, then what is contradicted or undecided.

    everything: all verdicts; brief: only what fails.
    """
    parts = []
    for paper, profile in dict.fromkeys((row.task.split("/")[0], row.profile) for row in rows):
        mine = [r for r in rows if r.profile == profile and r.task.startswith(f"{paper}/")]
        parts += wrapped(f"{paper} at {profile}: {counted(mine) or 'nothing to count'}")
        shown = [
            row for row in mine if everything or row.fails or (row.verdict in OPEN and not brief)
        ]
        for row in sorted(shown, key=lambda row: rank(row.verdict)):
            parts += line_of(row)
        parts += [""] if shown else []
    return "\n".join(parts).rstrip("\n") or "Nothing was run here: repro run TASK --profile smoke."


def line_of(row: CheckRow) -> list[str]:
    """Return a verdict with its claim's name, its statement and its numbers."""
    line = ClaimLine(row)
    lines = wrapped(f"{line.mark} {row.task}:{row.claim}: {row.statement}", 2)
    told = ". ".join(filter(None, [line.numbers, line.note]))
    return lines + (wrapped(f"{told}.", 4) if told else [])


def wrapped(text: str, indent: int = 0) -> list[str]:
    """Return text in lines of 80 columns; what is to be copied is never broken."""
    return textwrap.wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def failing(rows: Iterable[CheckRow]) -> list[CheckRow]:
    """Return what must fail a command: checks that fail, and whatever errs."""
    return [row for row in rows if row.fails]
