"""The five benchmarks' documents as questions: what is scored, and which answer is right.

Written out once more, beside the files for lm-eval, so that the scorer here needs no lm-eval and
one can be held against the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]
LETTERS = "ABCDEFGH"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question with choices; the likeliest continuation is the model's answer."""

    pairs: tuple[tuple[str, str], ...]
    """For each choice the text before, and its continuation that is scored."""
    answer: int
    """Place of the right choice."""


def _mmlu(document: Document) -> Question:
    subject = document["subject"].replace("_", " ")
    opening = f"The following are multiple choice questions (with answers) about {subject}."
    choices = zip(LETTERS, document["choices"], strict=False)
    listed = "\n".join(f"{letter}. {choice}" for letter, choice in choices)
    prompt = f"{opening}\n\n{document['question'].strip()}\n{listed}\nAnswer:"
    pairs = tuple((prompt, f" {letter}") for letter in LETTERS[:4])
    return Question(pairs=pairs, answer=document["answer"])


def _agieval(document: Document) -> Question:
    options = document["options"]
    passage = document["passage"] or ""
    prompt = (
        f"{passage}Q: {document['question']} Answer Choices: {' '.join(options)}\n"
        f"A: Among A through {LETTERS[len(options) - 1]}, the answer is"
    )
    pairs = tuple((prompt, f" {option}") for option in options)
    return Question(pairs=pairs, answer=LETTERS.index(document["label"]))


def _winogrande(document: Document) -> Question:
    before, _, after = document["sentence"].partition("_")
    options = (document["option1"], document["option2"])
    pairs = tuple((before + option, f" {after.strip()}") for option in options)
    return Question(pairs=pairs, answer=document["answer"] - 1)


def _pubmedqa(document: Document) -> Question:
    abstract = "\n".join(document["contexts"])
    prompt = f"Abstract: {abstract}\nQuestion: {document['question']}\nAnswer:"
    decisions = ("yes", "no", "maybe")
    pairs = tuple((prompt, f" {decision}") for decision in decisions)
    return Question(pairs=pairs, answer=decisions.index(document["final_decision"]))


QUESTIONS: dict[str, Callable[[Document], Question]] = {
    "mmlu": _mmlu,
    "agieval": _agieval,
    "winogrande": _winogrande,
    "pubmedqa": _pubmedqa,
}
"""Benchmarks with choices. GSM8K has none: its answers are written out."""


def word_problem(document: Document) -> str:
    """Return what GSM8K puts before the answer that a model writes."""
    return f"Question: {document['question']}\nAnswer:"
