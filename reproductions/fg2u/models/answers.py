"""Exact match and token F1 as for SQuAD, and answers by greedy decoding."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import torch

from reproductions.fg2u.models.adaptation import answer_loss
from reproductions.fg2u.models.documents import PAD, Question, asked
from reproductions.fg2u.models.gpt import Net, Weights

Text = Callable[[Sequence[int]], str]
CHUNK = 64
"""Questions that are answered at once."""


def normalised(text: str) -> str:
    """Return a text as SQuAD compares it: lower case, no punctuation, no articles, single blanks.

    >>> normalised("The  Normans, of course.")
    'normans of course'
    """
    bare = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def token_f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall of words.

    >>> token_f1("the red house", "red barn")
    0.5
    """
    ours, theirs = normalised(answer).split(), normalised(gold).split()
    common = sum((Counter(ours) & Counter(theirs)).values())
    if not ours or not theirs:
        return float(ours == theirs)
    return 2.0 * common / (len(ours) + len(theirs))


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """Of answers to questions."""

    exact_match: float
    """Share of answers, cut to as many tokens as the right one has."""
    f1: float
    loss: float
    """Mean negative log-likelihood of the right answers' tokens."""


def answers(
    net: Net, weights: Weights, questions: Sequence[Question], window: int
) -> list[list[int]]:
    """Return the likeliest next tokens, one after the other, as many as the right answer has."""
    most = max(len(one.answer) for one in questions)
    rows = [list(one.prompt) for one in questions]
    for _ in range(most):
        longest = min(window, max(len(row) for row in rows))
        tokens = torch.tensor([[*row, *[PAD] * longest][:longest] for row in rows])
        device = next(iter(weights.values())).device
        ends = torch.tensor([min(len(row), longest) - 1 for row in rows])
        with torch.no_grad():
            scores = net.logits(weights, tokens.to(device)).cpu()
        for row, best in zip(rows, scores[range(len(rows)), ends].argmax(-1).tolist(), strict=True):
            row.append(best)
    return [
        row[len(one.prompt) :][: len(one.answer)] for row, one in zip(rows, questions, strict=True)
    ]


def scored(
    net: Net, weights: Weights, questions: Sequence[Question], window: int, text: Text
) -> Scores:
    """Ask all questions."""
    found: list[list[int]] = []
    total, count = 0.0, 0.0
    device = next(iter(weights.values())).device
    for at in range(0, len(questions), CHUNK):
        own = questions[at : at + CHUNK]
        found += answers(net, weights, own, window)
        batch = asked(own, window).on(device)
        with torch.no_grad():
            size = float(batch.counts.sum())
            total += float(answer_loss(net, weights, batch)) * size
            count += size
    pairs = [(text(ours), text(one.answer)) for ours, one in zip(found, questions, strict=True)]
    return Scores(
        exact_match=fmean(float(normalised(a) == normalised(b)) for a, b in pairs),
        f1=fmean(token_f1(a, b) for a, b in pairs),
        loss=total / count,
    )
