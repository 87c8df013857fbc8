"""Documents with questions about them, as tokens: what a model is adapted to, and judged by.

Letters: T documents, Q questions, L tokens of a window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from harness.errors import DataError

PAD = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question whose answer one document states."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    """Ends with the token that ends an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A text of a stream."""

    tokens: tuple[int, ...]
    states_value: tuple[bool, ...]
    """Whether each token belongs to an answer."""
    questions: tuple[Question, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """Documents by what they are for; no document is in two parts."""

    known: tuple[Document, ...]
    """What a base model is trained on, again and again; also the unrelated text of locality."""
    passing: tuple[Document, ...]
    """What it sees beside, so that it learns what it does not know; may be none."""
    meta: tuple[Document, ...]
    """What the weights of tokens are learned on."""
    validation: tuple[Document, ...]
    """The stream on which step sizes are chosen."""
    test: tuple[Document, ...]
    """The stream that is reported."""
    vocab: int
    window: int
    text: Callable[[Sequence[int]], str]
    """From tokens of an answer to its words."""


class Sequences(NamedTuple):
    """Padded sequences and the tokens that count in a loss."""

    tokens: Tensor
    """Shape (number, L), integers."""
    counts: Tensor
    """Of the same shape: 1 where a token counts, else 0; the first never does."""

    def on(self, device: torch.device) -> Sequences:
        """Return them on a device."""
        return Sequences(self.tokens.to(device), self.counts.to(device))


def padded(documents: Sequence[Document], window: int, *, where: str = "the stream") -> Sequences:
    """Return documents padded to the window; every token but the first counts.

    Raises DataError for a document that is longer, or has no second token.
    """
    for number, document in enumerate(documents):
        if len(document.tokens) > window:
            raise DataError(
                f"document {number} of {where} has {len(document.tokens)} tokens, and the model's"
                f" window holds {window}: cut documents before, or take a larger window"
            )
        if len(document.tokens) < 2:
            raise DataError(f"document {number} of {where} has no token to predict: leave it out")
    return _padded([(d.tokens, range(1, len(d.tokens))) for d in documents], window)


def asked(questions: Sequence[Question], window: int) -> Sequences:
    """Return questions with their answers, of which the answers alone count.

    Raises DataError where there is none, or one is longer than the window.
    """
    if not questions:
        raise DataError("these documents have no question: nothing can judge what was learned")
    rows = [
        (q.prompt + q.answer, range(len(q.prompt), len(q.prompt + q.answer))) for q in questions
    ]
    longest = max(len(tokens) for tokens, _ in rows)
    if longest > window:
        raise DataError(
            f"a question has {longest} tokens with its answer, and the model's window holds"
            f" {window}: leave it out, or take a larger window"
        )
    return _padded(rows, longest)


def _padded(rows: Sequence[tuple[tuple[int, ...], range]], length: int) -> Sequences:
    tokens = torch.full((len(rows), length), PAD, dtype=torch.int64)
    counts = torch.zeros(len(rows), length)
    for number, (row, counted) in enumerate(rows):
        tokens[number, : len(row)] = torch.tensor(row)
        counts[number, counted.start : counted.stop] = 1.0
    return Sequences(tokens, counts)


def pieces(tokens: Sequence[int], size: int) -> list[range]:
    """Return where a text is cut into documents, each of a size, the last one of what is left.

    >>> pieces([7] * 10, 4)
    [range(0, 4), range(4, 8), range(8, 10)]
    """
    return [range(at, min(at + size, len(tokens))) for at in range(0, len(tokens), size)]
