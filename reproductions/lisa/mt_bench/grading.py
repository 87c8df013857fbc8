"""How a judge grades answers to MT-Bench: what it is told, how its grade is read, what is kept.

Single answers are graded from 1 to 10, as in arXiv 2306.05685, section 3.1; the wording is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from harness.atomic import write_text
from harness.canonical import digest
from harness.untrusted import is_there, parse_json, read_text
from reproductions.lisa.mt_bench.judge import Judge, Judgement, Message

if TYPE_CHECKING:
    from reproductions.lisa.mt_bench.answers import Question

LEAST, MOST = 1.0, 10.0
HASH_CHARS = 16

TASK = (
    "You grade the answers of an assistant; you are strict, fair and brief. Read the conversation"
    " below and grade how well the assistant's {which} answer serves the user. Ask whether it is"
    " correct, to the point, complete and clear, and whether it does what was asked for; length"
    " alone earns nothing."
)
COMPARE = (
    " A reference answer is given with each question: compare the assistant's answer with it, and"
    " name every mistake before you grade."
)
FORM = (
    " First explain your grade in a few sentences. Then write the grade on a last line of its own,"
    " as a number from 1 (of no use) to 10 (could not be better) in double brackets, such as"
    " [[4]]."
)
WHICH = ("only", "second")
"""Which answer of a conversation is graded, by its turn."""
PARTS = {
    "question": "### Question {turn}\n{text}",
    "reference": "### Reference answer {turn}\n{text}",
    "answer": "### The assistant's answer {turn}\n{text}",
}
_RATING = re.compile(r"\[\[\s*([0-9]+(?:\.[0-9]+)?)\s*\]\]")


def rating_in(text: str) -> float | None:
    """Return the last number in double brackets; None where there is none, or none from 1 to 10.

    The last, as an explanation that comes first may quote a grade from the answer.

    >>> rating_in("It claims [[10]], but it is wrong. [[2]]")
    2.0
    >>> rating_in("8 of 10"), rating_in("[[11]]"), rating_in("[[rating]]")
    (None, None, None)
    """
    found = _RATING.findall(text)
    if not found or not LEAST <= float(found[-1]) <= MOST:
        return None
    return float(found[-1])


def messages_for(question: Question, answers: Sequence[str]) -> list[Message]:
    """Return what the judge is told to grade the last of a conversation's answers.

    answers: to the first turn, or to both; the second is graded with the first in sight. All in
    one message of the user: some judges' templates know no system.
    """
    task = TASK.format(which=WHICH[len(answers) - 1]) + (COMPARE if question.references else "")
    parts = [task + FORM]
    for index, text in enumerate(answers):
        texts = {"question": question.turns[index], "answer": text}
        if question.references:
            texts["reference"] = question.references[index]
        parts += [
            part.replace("{turn}", str(index + 1)).replace("{text}", texts[name])
            for name, part in PARTS.items()
            if name in texts
        ]
    return [{"role": "user", "content": "\n\n".join(parts)}]


def prompt_hash(messages: Sequence[Message]) -> str:
    """Return the start of the SHA-256 of everything the judge is told about one answer."""
    return digest([dict(message) for message in messages])[:HASH_CHARS]


def wording_hash() -> str:
    """Return the start of the SHA-256 of our wording, which all prompts share."""
    return digest([TASK, COMPARE, FORM, list(WHICH), PARTS])[:HASH_CHARS]


class Grades:
    """A judge's judgements of one trial, each kept on disk as soon as it is there."""

    def __init__(self, judge: Judge, path: Path) -> None:
        """Take up what an interrupted trial kept beside `path` from the same judge."""
        # An address may be private, so only its hash tells one judge's file from another's.
        who = digest([judge.settings.url, judge.settings.model])[:HASH_CHARS]
        self._judge, self._path = judge, path.with_suffix(f".{who}.json")
        self._kept: dict[str, Judgement] = {}
        if is_there(self._path):
            kept = parse_json(read_text(self._path), where=str(self._path))
            self._kept = {prompt: Judgement(**one) for prompt, one in kept.items()}

    def grade(self, messages: Sequence[Message]) -> Judgement:
        """Return the judgement on a prompt, asking for it only where none is kept.

        Raises EnvError or RunError where the judge does not answer.
        """
        key = prompt_hash(messages)
        if key not in self._kept:
            self._kept[key] = self._judge.ask(messages)
            kept = {prompt: asdict(one) for prompt, one in self._kept.items()}
            write_text(self._path, json.dumps(kept))
        return self._kept[key]

    def forget(self) -> None:
        """Remove what is kept: the trial has come to its end."""
        self._path.unlink(missing_ok=True)
