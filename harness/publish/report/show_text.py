"""What `repro show` prints of a task, in at most 40 lines of 80 columns, and of one claim."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.declare.verdict import OVERLAPS, Word
from harness.publish.counts import IN_WORDS, counted_in_words
from harness.publish.report.check_text import CUT, INDENT, ORDER, WIDTH, asked, ours
from harness.publish.report.text import chance_note, paper_cell, seal_note, threshold_source
from harness.publish.show import Answer, View

MOST_LINES = 40
ANSWERS = {
    Word.HOLDS: "Yes, the check holds",
    Word.FAILS: "No, the check fails",
    Word.REPRODUCED: "Yes, reproduced",
    Word.NOT_REPRODUCED: "No, not reproduced",
    Word.INCONCLUSIVE: "Undecided",
    Word.OUT_OF_PROFILE: "Cannot be decided at this scale",
    Word.NOT_RUN: "Not run",
    Word.ERROR: "Not known, its evaluation failed",
}
FOLDED = (Word.HOLDS, Word.OUT_OF_PROFILE)
"""What is counted alone: nothing was found out by it."""


def answer_text(each: Answer) -> str:
    """Return a claim's answer in a sentence: in words, ours, and what was asked."""
    row = each.shown.row
    word = "Withdrawn" if row.seal == "withdrawn" else ANSWERS[Word(row.verdict)]
    numbers = "; ".join(filter(None, [ours(each.shown, each.shown.seed), asked(each.shown)]))
    return f"{word}: {numbers}." if numbers else f"{word}."


def task_text(view: View) -> str:
    """Return a task's answers, the worst first, in at most 40 lines.

    Claims that ask the same of other data, nets or methods and came to the same stand once.
    """
    head = [
        *_lines(f"{view.task.id} at {view.profile}: {view.title}"),
        *_lines(f"Declared in {view.declared()}"),
        *_lines(f"{counted_in_words(view.rows) or 'No claim is decided here'}."),
        *_lines(view.waits),
    ]
    tail = [*_deviations(view, brief=True), *commands(view)]
    # Three lines stand between the parts, and two say what is not written out.
    blocks, rest = _fitting(_groups(view), MOST_LINES - len(head) - len(tail) - 5)
    folded = [*rest, *_folded(view)]
    return "\n\n".join("\n".join(part) for part in (head, *blocks, folded, tail) if part)


def _fitting(groups: Sequence[Sequence[Answer]], room: int) -> tuple[list[list[str]], list[str]]:
    """Return a block for each of the first groups that so many lines hold, and a line for others.

    Where even these are too many, a last line counts them.
    """
    blocks: list[list[str]] = []
    for place, group in enumerate(groups):
        block, others = _block(group), len(groups) - place - 1
        if room - len(block) - 1 < others:
            break
        room -= len(block) + 1
        blocks.append(block)
    rest = [_short(group) for group in groups[len(blocks) :]]
    if len(rest) > max(room, 1):
        kept = max(room - 1, 0)
        rest = [*rest[:kept], f"{len(rest) - kept} more questions have an answer."]
    return blocks, rest


def _groups(view: View) -> list[list[Answer]]:
    """Return what is written out, claims that are alike together."""
    groups: dict[tuple[object, ...], list[Answer]] = {}
    for each in sorted(view.answers, key=lambda a: ORDER.index(Word(a.shown.row.verdict))):
        row = each.shown.row
        if row.fails or (row.decides and row.verdict not in FOLDED):
            groups.setdefault(each.alike, []).append(each)
    return list(groups.values())


def _head(group: Sequence[Answer]) -> str:
    first = group[0].shown
    beside = f" and {len(group) - 1} alike" if len(group) > 1 else ""
    return f"{first.word}  {first.name}{beside}"


def _block(group: Sequence[Answer]) -> list[str]:
    """Return a claim in seven lines at most."""
    first = group[0]
    row = first.shown.row
    return [
        *_lines(_head(group), most=1),
        *_lines(first.shown.statement, INDENT, most=2),
        *_lines(answer_text(first), INDENT, most=2),
        *_lines("" if row.reason == OVERLAPS else row.reason, INDENT, most=1),
        *_lines(first.needed, INDENT, most=1),
    ]


def _short(group: Sequence[Answer]) -> str:
    """Return a claim in a line."""
    (line,) = _lines(f"{_head(group)}: {ours(group[0].shown) or group[0].shown.row.reason}", most=1)
    return line


def _folded(view: View) -> list[str]:
    """Count what has no answer of its own."""
    quiet = [row for row in view.rows if not row.fails]
    counts = Counter(Word(r.verdict) for r in quiet if r.decides and r.verdict in FOLDED)
    told = [f"{counts[word]} {IN_WORDS[word]}" for word in ORDER if counts[word]]
    beside = sum(not row.decides for row in quiet)
    told += [f"{beside} on other seeds or withdrawn"] if beside else []
    return _lines(f"Not written out: {', '.join(told)}.") if told else []


def claim_text(view: View) -> str:
    """Return all that is known of a view's one claim: what decides, then what other seeds say."""
    parts = [list(_whole(view, each)) for each in view.answers]
    parts += [_lines(f"Declared in {view.declared(view.rows[0].claim)}")]
    parts += [_deviations(view, brief=False), commands(view)]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _whole(view: View, each: Answer) -> Iterator[str]:
    row, claim = each.shown.row, each.claim
    yield from _lines(f"{each.shown.word}  {view.task.id}:{each.shown.name} at {view.profile}")
    yield from _lines(each.shown.statement, INDENT)
    yield from _lines(answer_text(each), INDENT)
    yield from _lines(row.reason, INDENT)
    yield from _lines(each.needed, INDENT)
    if claim is not None:
        yield from _lines(
            f"in the paper: {claim.where}; its number: {paper_cell(claim, row)}", INDENT
        )
        yield from _lines(f"threshold from: {threshold_source(claim)}", INDENT)
    if row.verdict == Word.REPRODUCED:  # what is undecided has its seeds above
        yield from _lines(chance_note(row), INDENT)
    yield from _lines(seal_note(row), INDENT)


def _deviations(view: View, *, brief: bool) -> list[str]:
    """Say what we did differently: what each of them is about, or a line each."""
    told = [f"{each.id} {each.what}" for each in view.deviations]
    if brief:
        return _lines(f"Deviations: {'; '.join(told)}.", most=4) if told else []
    return [line for each in told for line in _lines(each)]


def commands(view: View) -> list[str]:
    """Return the commands that look further, a line each."""
    task, options = view.task, view.options
    first = next((group[0].shown.row for group in _groups(view)), None)
    one = f"repro show {task.id}:{first.claim}{options}" if first and len(view.answers) > 1 else ""
    words = [f"repro {verb} {task.id}{options}" for verb in view.shows]
    check = f"repro check {task.id}{options} --all"
    return [f"{INDENT}{line}" for line in (one, check, *words, view.run) if line]


def _lines(text: str, indent: str = "", most: int | None = None) -> list[str]:
    flat = " ".join(text.split())
    return textwrap.wrap(
        flat, WIDTH, initial_indent=indent, subsequent_indent=indent, max_lines=most,
        placeholder=CUT, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
