"""Texts and problems as a model learns from them: running text, prompts and answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from harness.errors import DataError
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.instructions import Example, answer_loss
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.word_problems import Filter, Problem, is_match

ONE_IN = 32
"""Paragraphs, of which one is a solved problem of GSM8K, where these are mixed in."""
EVALUATED_TOGETHER = 50
ROOM = 64
"""Tokens of the context for an answer at most; at `cpu` problem and answer take 62 in all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How a model solves problems."""

    loss: float
    """Nats an answer token, given the problem."""
    accuracy: dict[Filter, float]
    """Share of problems whose decoded result is right, as each filter finds it."""


def solution_text(record: Mapping[str, Any]) -> str:
    r"""Return the steps of a record of GSM8K as running text, without its marks.

    >>> solution_text({"answer": "He has 2*3 = <<2*3=6>>6 eggs.\nSo 6.\n#### 6"})
    'He has 2*3 = 6 eggs. So 6.'
    """
    steps = str(record["answer"]).partition("\n####")[0]
    return " ".join(re.sub(r"<<.*?>>", "", steps).split())


def fitting(texts: Iterable[str], lm: LanguageModel) -> list[str]:
    """Return texts that fit whole into the model's context. Raises DataError if none does."""
    found = [text for text in texts if len(lm.encode(text)) < lm.context]
    if not found:
        raise DataError(f"no text fits into {lm.context} tokens: take a model of a longer context")
    return found


def mixed(statements: Iterator[str], solutions: Sequence[str]) -> Iterator[str]:
    """Yield statements, one in ONE_IN of them replaced by the next solution, over and over."""
    others = cycle(solutions) if solutions else statements
    for number, statement in enumerate(statements, start=1):
        yield next(others) if solutions and number % ONE_IN == 0 else statement


def as_examples(problems: Sequence[Problem], lm: LanguageModel, *, room: int) -> list[Example]:
    """Return problems as tokens.

    room: tokens of the context kept free for an answer; a prompt that leaves less loses its
    beginning, as happens to the smallest model. Raises DataError for an answer that is longer.
    """
    found = []
    for problem in problems:
        prompt, answer = lm.encode(problem.prompt), [*lm.encode(f" {problem.answer}"), lm.eos]
        if len(answer) > room:
            raise DataError(f"{problem.answer!r} has {len(answer)} tokens, more than {room}")
        most = lm.context - 1 - room
        cut = prompt[max(0, len(prompt) - most) :]
        found.append(Example(prompt=(lm.bos, *cut), answer=tuple(answer)))
    return found


def score(
    lm: LanguageModel, problems: Sequence[Problem], *, room: int, max_new_tokens: int
) -> Score:
    """Return the loss on problems, and how many are solved by greedy decoding."""
    examples = as_examples(problems, lm, room=room)
    found = greedy(lm, [one.prompt for one in examples], max_new_tokens=max_new_tokens)
    responses = [str(lm.tokenizer.decode(tokens)) for tokens in found]
    pairs = list(zip(responses, problems, strict=True))
    filters: tuple[Filter, ...] = ("strict", "flexible")
    return Score(
        loss=answer_loss(lm.model, examples, batch_size=EVALUATED_TOGETHER, padding=lm.eos),
        accuracy={
            kind: sum(is_match(said, one.answer, filter=kind) for said, one in pairs) / len(pairs)
            for kind in filters
        },
    )
