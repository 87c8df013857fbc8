"""What `repro show` prints of a task, in about 40 lines of 80 columns, and of one claim."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from harness.declare.verdict import OVERLAPS, Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import IN_WORDS, counted_in_words
from harness.publish.report.check_text import INDENT, ORDER, Shown, asked, ours, width
from harness.publish.report.text import chance_note, paper_cell, seal_note, threshold_source
from harness.publish.report.units import Reading
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
    """Return a task's answers, the worst first, in 40 lines where no words are lost by it.

    As many claims as these hold are written out, the paper's headlines first; of each of the others
    its name and its number stand below.
    """
    head = [
        *_lines(f"{view.task.id} at {view.profile}: {view.title}"),
        *_lines(f"Declared in {view.declared()}"),
        *_lines(f"{counted_in_words(view.rows) or 'No claim is decided here'}."),
        *_lines(view.waits),
    ]
    tail = [*_deviations(view, brief=True), *commands(view)]
    told = _told(view)

    def written(count: int) -> str:
        blocks = [_block(each) for each in told[:count]]
        below = [*_in_short(told[count:]), *_folded(view)]
        return "\n\n".join("\n".join(part) for part in (head, *blocks, below, tail) if part)

    texts = (written(count) for count in range(len(told), 1, -1))
    short_enough = (text for text in texts if len(text.splitlines()) <= MOST_LINES)
    return next(short_enough, written(1))


def _told(view: View) -> list[Answer]:
    """Return what is written out or named, the worst first, of one verdict the headlines."""
    found = (
        each
        for each in view.answers
        if (row := each.shown.row).fails or (row.decides and row.verdict not in FOLDED)
    )
    return sorted(found, key=lambda each: _place(view, each.shown.row))


def _place(view: View, row: CheckRow) -> tuple[int, bool]:
    return ORDER.index(Word(row.verdict)), row.claim not in view.headlines


def _block(each: Answer) -> list[str]:
    """Return all that answers a claim."""
    row = each.shown.row
    return [
        *_lines(f"{each.shown.word}  {each.shown.name}"),
        *_lines(each.shown.statement, INDENT),
        *_lines(answer_text(each), INDENT),
        *_lines("" if row.reason == OVERLAPS else row.reason, INDENT),
        *_lines(each.needed, INDENT),
    ]


def _in_short(answers: Sequence[Answer]) -> list[str]:
    """Return names and numbers of claims, a paragraph for each verdict; equal ones stand once.

    So does what marks several claims: those without a mark stand before it.
    """
    lines = []
    for word, group in groupby(answers, lambda each: each.shown.word):
        marked: dict[str, dict[str, list[str]]] = {}
        for shown in sorted((each.shown for each in group), key=lambda shown: bool(shown.mark)):
            names = marked.setdefault(shown.mark, {})
            names.setdefault(_number(shown), []).append(shown.row.claim)
        told = [f"{mark}: {'; '.join(_of_number(names))}." for mark, names in marked.items()]
        first = f", {told[0]}" if "" not in marked else told[0]
        rest = "".join(f" {each[:1].upper()}{each[1:]}" for each in told[1:])
        lines += _lines(f"Also {word}{first}{rest}", hanging=INDENT)
    return lines


def _of_number(names: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for number, claims in names.items():
        yield f"{', '.join(claims)}: {number}"


def _number(shown: Shown) -> str:
    row = shown.row
    return Reading(row=row, unit=shown.unit).ours or (row.reason if row.fails else "no number")


def _folded(view: View) -> list[str]:
    """Count what has no answer of its own."""
    quiet = [row for row in view.rows if not row.fails]
    counts = Counter(Word(r.verdict) for r in quiet if r.decides and r.verdict in FOLDED)
    told = [f"{counts[word]} {IN_WORDS[word]}" for word in ORDER if counts[word]]
    beside = sum(not row.decides for row in quiet)
    told += [f"{beside} where other seeds decide, or withdrawn"] if beside else []
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
        told = paper_cell(claim, row, has_paper=view.task.has_paper)
        known = f"in the paper: {claim.where}; its number: {told}"
        source = known if view.task.has_paper else f"source: {claim.where}; there is no paper"
        yield from _lines(source, INDENT)
        yield from _lines(f"threshold from: {threshold_source(claim)}", INDENT)
    if row.verdict == Word.REPRODUCED:  # what is undecided has its seeds above
        yield from _lines(chance_note(row), INDENT)
    yield from _lines(seal_note(row), INDENT)


def _deviations(view: View, *, brief: bool) -> list[str]:
    """Say what we did differently: what each of them is about, or a line each."""
    told = [f"{each.id} {each.what}" for each in view.deviations]
    if brief:
        return _lines(f"Deviations: {'; '.join(told)}.") if told else []
    return [line for each in told for line in _lines(each)]


def commands(view: View) -> list[str]:
    """Return the commands that look further, a line each."""
    task, options = view.task, view.options
    first = next((each.shown.row for each in _told(view)), None)
    one = f"repro show {task.id}:{first.claim}{options}" if first and len(view.answers) > 1 else ""
    words = [f"repro {verb} {task.id}{options}" for verb in view.shows]
    check = f"repro check {task.id}{options} --all"
    return [f"{INDENT}{line}" for line in (one, check, *words, view.run) if line]


def _lines(text: str, indent: str = "", hanging: str = "") -> list[str]:
    flat = " ".join(text.split())
    return textwrap.wrap(
        flat, width(), initial_indent=indent, subsequent_indent=indent + hanging,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
