"""Made-up facts: documents that state values among filler words, and questions for the values.

A document states two facts of one person, each between words that mean nothing and cannot be
foreseen. Values of different relations are disjoint, and no person is in two parts of a corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from harness.errors import SpecError
from reproductions.fg2u.models.documents import Corpus, Document, Question

COMMON = ("<pad>", "<document>", "<question>", "<end>", "the", "of", "is", ".", "what", "?")
RELATIONS = ("colour", "food", "town", "trade")
NUM_NAMES, NUM_VALUES, NUM_FILLERS = 40, 8, 60
"""First names, and as many last ones; words per place of a value; filler words."""
NUM_FACTS = 2
WINDOW = 32
FILLERS = (2, 4)
"""Least and most filler words before a fact."""


def vocabulary() -> list[str]:
    """Return all words; the place of a word is its token.

    A value has two words, each of a set that one relation has to itself.
    """
    values = [
        f"{relation}{place}{number}"
        for relation in RELATIONS
        for place in "ab"
        for number in range(NUM_VALUES)
    ]
    return [
        *COMMON,
        *(f"first{number}" for number in range(NUM_NAMES)),
        *(f"last{number}" for number in range(NUM_NAMES)),
        *RELATIONS,
        *values,
        *(f"filler{number}" for number in range(NUM_FILLERS)),
    ]


WORDS = vocabulary()
TOKENS = {word: token for token, word in enumerate(WORDS)}


def text(tokens: Sequence[int]) -> str:
    """Return words, up to the one that ends an answer."""
    words = [WORDS[token] for token in tokens]
    return " ".join(words[: words.index("<end>")] if "<end>" in words else words)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """Documents of each part, one per person; people met in passing come again with new facts."""

    known: int
    passing: int
    repeats: int
    meta: int
    validation: int
    test: int

    def __post_init__(self) -> None:
        people = self.known + self.passing + self.meta + self.validation + self.test
        if people > NUM_NAMES**2:
            raise SpecError(f"{people} people, and there are names for {NUM_NAMES**2}: take fewer")


def corpus(sizes: Sizes, generator: torch.Generator) -> Corpus:
    """Return people's facts by part, and the order of each stream."""
    people = torch.randperm(NUM_NAMES**2, generator=generator).tolist()

    def part(count: int, repeats: int = 1) -> tuple[Document, ...]:
        own = [people.pop() for _ in range(count)]
        return tuple(document(person, generator) for _ in range(repeats) for person in own)

    return Corpus(
        known=part(sizes.known),
        passing=part(sizes.passing, sizes.repeats),
        meta=part(sizes.meta, sizes.repeats),
        validation=part(sizes.validation),
        test=part(sizes.test),
        vocab=len(WORDS),
        window=WINDOW,
        text=text,
    )


def document(person: int, generator: torch.Generator) -> Document:
    """Return a document of facts about a person, whose number tells the names."""

    def drawn(below: int) -> int:
        return int(torch.randint(below, (), generator=generator))

    def fillers() -> list[str]:
        count = FILLERS[0] + drawn(FILLERS[1] - FILLERS[0] + 1)
        return [f"filler{drawn(NUM_FILLERS)}" for _ in range(count)]

    name = [f"first{person // NUM_NAMES}", f"last{person % NUM_NAMES}"]
    words, states, questions = ["<document>"], [False], []
    for which in torch.randperm(len(RELATIONS), generator=generator)[:NUM_FACTS].tolist():
        relation = RELATIONS[which]
        value = [f"{relation}{place}{drawn(NUM_VALUES)}" for place in "ab"]
        before = [*fillers(), "the", relation, "of", *name, "is"]
        words += [*before, *value, "."]
        states += [False] * len(before) + [True] * len(value) + [False]
        prompt = ["<question>", "what", "is", "the", relation, "of", *name, "?"]
        questions.append(Question(prompt=_tokens(prompt), answer=_tokens([*value, "<end>"])))
    ending = fillers()[: WINDOW - len(words)]
    return Document(
        tokens=_tokens(words + ending),
        states_value=(*states, *(False for _ in ending)),
        questions=tuple(questions),
    )


def _tokens(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(TOKENS[word] for word in words)
