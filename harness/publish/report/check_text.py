"""What `repro check` and `repro summary` print: counts, then the verdicts, in 80 columns."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from harness.declare.cohorts import FIRST
from harness.declare.profiles import PROFILES
from harness.declare.verdict import OVERLAPS, Word
from harness.provenance.seals import STATES
from harness.publish.check_row import CheckRow
from harness.publish.counts import (
    counted_in_words,
    reproduced_text,
    seals_text,
)
from harness.publish.report.text import (
    PLUS_MINUS,
    chance_note,
    differences_text,
    number,
    seeds,
)
from harness.publish.report.units import Reading

WIDTH = 80
"""Columns of a text in a file or pipe, and at most of one on a terminal."""
INDENT = "  "
FAILURES = (Word.FAILS, Word.ERROR)
OPEN = (*FAILURES, Word.NOT_REPRODUCED, Word.INCONCLUSIVE)
"""What is written out unasked, worst first."""
ORDER = (*OPEN, Word.NOT_RUN, Word.REPRODUCED, Word.HOLDS, Word.OUT_OF_PROFILE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A verdict with what its claim declares; a withdrawn claim has its last words alone."""

    row: CheckRow
    statement: str = ""
    unit: str = ""
    tolerance: float = 0.0
    stands_in: str = ""
    seed: str = ""
    """What each seed is, in a few words."""
    caveat: str = ""
    """What must stand beside the verdict where the statement does not, in a few words."""
    what_number: str = ""
    """What the measured number is, which of several, and how it stands among them."""

    @property
    def name(self) -> str:
        """The claim's id, marked where its verdict is no plain one on a claim of the paper."""
        return f"{self.row.claim} ({self.mark})" if self.mark else self.row.claim

    @property
    def mark(self) -> str:
        """What its verdict is on, where that is no plain claim of the paper."""
        half = "half of an either-or" if self.row.half_of else ""
        ours = "ours" if self.row.own_question else ""
        marks = (ours, half, self.caveat, self.row.by_construction)
        return ", ".join(filter(None, marks))

    @property
    def word(self) -> str:
        """The verdict, which no reader takes for one that counts where it does not."""
        row = self.row
        if row.decides or row.verdict == Word.ERROR:
            return row.verdict
        if row.seal != "withdrawn":
            return f"BESIDE ({row.verdict})"
        return "WITHDRAWN" + ("" if row.verdict == Word.NOT_RUN else f" (was {row.verdict})")


def width() -> int:
    """Return the columns that a text has: fewer on a terminal that has fewer."""
    return min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH


def counts_text(rows: Sequence[CheckRow]) -> str:
    """Return per paper and profile the checks, claims, halves and our own questions, each apart.

    Last, of all together, on what seals the decided claims rest: smoke seals nothing that anybody
    reads. Where there are several papers, what is known of chance stands there too, once.
    """
    lines: list[str] = []
    papers = dict.fromkeys(row.task.split("/")[0] for row in rows)
    alone = len(papers) == 1
    for paper in papers:
        for profile in PROFILES:
            part = [r for r in rows if r.task.split("/")[0] == paper and r.profile == profile]
            if counted := counted_in_words(part, chance=alone):
                line = f"{paper} at {profile}: {counted}"
                lines += textwrap.wrap(line, width(), subsequent_indent=INDENT)
    sealing = [row for row in rows if row.profile != "smoke"]
    lines += [] if alone else _wrapped(reproduced_text(sealing), "")
    lines += _wrapped(seals_text(sealing), "")
    return "\n".join(lines)


def check_text(
    rows: Sequence[CheckRow],
    tell: Callable[[CheckRow], Shown],
    *,
    everything: bool = False,
    brief: bool = False,
) -> str:
    """Return what `repro check` prints: counts per paper, then the verdicts, worst first.

    What fails has a block with its reasons, as have all verdicts of one task; a claim of several
    tasks has a line.
    tell: finds what a claim declares, asked for written rows alone; everything: a block each, also
    for what holds, was not run, or decides nothing; brief: only what fails the command.
    """
    written = [row for row in rows if everything or _is_told(row, brief=brief)]
    written.sort(key=lambda row: ORDER.index(Word(row.verdict)))
    whole = everything or len({row.task for row in rows}) == 1
    apart = [row for row in written if whole or row.verdict in FAILURES]
    blocks = ["\n".join(_block(tell(row))) for row in apart]
    for word in OPEN[len(FAILURES) :]:
        part = [] if whole else [tell(row) for row in written if row.verdict == word]
        blocks += [_listed(word, part)] if part else []
    hidden = [] if everything or brief else _hidden(rows)
    legend = "\n".join(
        [*_legend(apart, "\n".join(blocks), is_list=len(written) > len(apart)), *hidden]
    )
    counts = counts_text(rows) or ("Nothing here decides." if rows else "No claim is declared.")
    return "\n\n".join(part for part in (counts, *blocks, legend) if part)


def _is_told(row: CheckRow, *, brief: bool) -> bool:
    if brief or not row.decides:
        return row.fails
    return row.verdict in OPEN


def notes(row: CheckRow) -> list[str]:
    """Return the remarks that a reader of a verdict must have, each a few words."""
    found = [] if row.decides or row.seal == "withdrawn" else [f"{row.cohort} does not decide"]
    if row.decides and row.cohort != FIRST:
        found.append(f"decided by {row.cohort}")
    if row.seal not in ("sealed", "none"):
        # What differs is told where it may have moved the verdict.
        lines = f": {'; '.join(differences_text(row))}" if row.seal == "changed" else ""
        found.append(f"seal {row.seal}{lines}")
    return [*filter(None, [chance_note(row)]), *found]


def _block(each: Shown) -> list[str]:
    row = each.row
    head = f"{each.word}  {row.task}:{each.name} at {row.profile}"
    lines = [head] if len(head) <= width() else [each.word, *_wrapped(head.partition("  ")[2])]
    standing = f" ({row.paper_standing}):" if row.paper_standing else ""
    paper = f"paper{standing} {number(row.paper_value)}" if row.paper_value is not None else ""
    numbers = [ours(each, each.seed), asked(each), paper]
    remarks = [row.reason.rstrip("."), *notes(row)]
    for text in (each.statement, *("; ".join(filter(None, parts)) for parts in (numbers, remarks))):
        lines += _wrapped(text)
    return lines


def _listed(word: Word, shown: Sequence[Shown]) -> str:
    """Return claims of one verdict under their tasks, with what stood in and what a seed is."""
    lines = [str(word)]
    for (task, profile), group in groupby(shown, lambda s: (s.row.task, s.row.profile)):
        part = list(group)
        here = f"here {part[0].stands_in}" if part[0].stands_in else ""
        seed = f"a seed is {part[0].seed}" if part[0].seed else ""
        head = "; ".join(filter(None, [f"{task} at {profile}", here, seed]))
        lines += textwrap.wrap(head, width(), subsequent_indent=INDENT)
        lines += [line for each in part for line in _short(each)]
    return "\n".join(lines)


def _short(each: Shown) -> list[str]:
    """Return a claim's numbers; what it states is told with its task alone."""
    row = each.row
    # The usual reason is what the verdict's word says.
    reason = "" if row.reason == OVERLAPS else row.reason
    told = "; ".join(filter(None, [ours(each), asked(each), reason]))
    return textwrap.wrap(
        f"{each.name}: {told}",
        width(),
        initial_indent=INDENT,
        subsequent_indent=2 * INDENT,
    )


def asked(each: Shown) -> str:
    """Say what the claim asks of the measured number; nothing of one that was withdrawn."""
    bound = Reading(row=each.row, unit=each.unit, tolerance=each.tolerance).asked
    return f"asked {bound}" if bound else ""


def ours(each: Shown, seed: str = "") -> str:
    """Return the measured number, its interval as a half-width where it lies evenly around it."""
    told = Reading(row=each.row, unit=each.unit)
    if not told.ours:
        return ""
    spread = ", ".join(filter(None, [told.uneven, seeds(each.row, seed)]))
    return f"ours {told.ours} ({'; '.join(filter(None, [each.what_number, spread]))})"


def _legend(written: Sequence[CheckRow], blocks: str, *, is_list: bool) -> list[str]:
    """Say once what the signs and words in the blocks mean."""
    lines = []
    if PLUS_MINUS in blocks:
        lines += _wrapped(f"{PLUS_MINUS} and ranges are 95 % intervals over seeds.", "")
    if is_list:
        lines += _wrapped("What a claim states is told by repro check TASK.", "")
    used = {row.seal for row in written} - {"sealed", "none"}
    for state in STATES:
        if state in used:
            lines += _wrapped(f"seal {state}: {STATES[state]}.", "")
    return lines


def _hidden(rows: Sequence[CheckRow]) -> list[str]:
    """Say what only `--all` shows, and count of it what the counts leave out."""
    quiet = [row for row in rows if not _is_told(row, brief=False)]
    beside = sum(not row.decides and row.seal != "withdrawn" for row in quiet)
    gone = sum(row.seal == "withdrawn" for row in quiet)
    told = ["what holds, is out of scale or was not run"] if len(quiet) > beside + gone else []
    verdicts, claims = _counted(beside, "verdict"), _counted(gone, "claim")
    told += [f"{verdicts} on seeds other than those that decide"] if beside else []
    told += [f"{claims} that {'was' if gone == 1 else 'were'} withdrawn"] if gone else []
    return _wrapped(f"--all also shows {', '.join(told)}.", "") if told else []


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _wrapped(text: str, indent: str = INDENT, **options: Any) -> list[str]:
    flat = " ".join(text.split())
    return textwrap.wrap(flat, width(), initial_indent=indent, subsequent_indent=indent, **options)
