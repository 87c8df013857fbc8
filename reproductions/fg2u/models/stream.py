"""A language model that reads a stream once; and how small ones are trained before.

Source of the protocol: one pass, Adam, one document at a time, its step size chosen on a
validation stream (the evaluation of CaMeLS, which arXiv 2406.14095 takes over).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from reproductions.fg2u.models.adaptation import (
    Base,
    Phi,
    answer_loss,
    document_loss,
    masked_mean,
    negative_log_likelihood,
    weighed,
)
from reproductions.fg2u.models.answers import Scores, scored
from reproductions.fg2u.models.documents import Corpus, Document, Question, Sequences, asked, padded
from reproductions.fg2u.models.gpt import Gpt, Weights

MAX_NORM = 750.0
"""Gradients are clipped to it, as in the released evaluation."""


def read(
    base: Base, trunk: Base, phi: Phi, documents: Sequence[Document], window: int, *, lr: float
) -> Weights:
    """Return the weights of a model after one pass over a stream."""
    tokens, counts = padded(documents, window).on(base.device)
    leaves = {name: value.clone().requires_grad_() for name, value in base.weights.items()}
    optimizer = torch.optim.Adam(leaves.values(), lr=lr)
    for number, document in enumerate(documents):
        # Without padding, which changes nothing but time.
        row = tokens[number, : len(document.tokens)]
        weights_L = weighed(phi, trunk, row[None])[0]
        share = len(row) / window
        loss = share * document_loss(base.net, leaves, row, weights_L, counts[number, : len(row)])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(leaves.values(), MAX_NORM)
        optimizer.step()
    return {name: leaf.detach() for name, leaf in leaves.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a model knows of a stream before and after it read it."""

    before: Scores
    after: Scores
    lr: float
    """Step size of Adam, the one of the least loss on the validation stream."""
    lr_place: int
    """Its place among the candidates, from 0."""
    validation_loss: float
    """Of the answers there, after reading."""


def questions_of(documents: Sequence[Document]) -> list[Question]:
    """Return every question about some documents."""
    return [question for document in documents for question in document.questions]


def reading(base: Base, trunk: Base, phi: Phi, corpus: Corpus, lrs: Sequence[float]) -> Reading:
    """Choose a step size on the validation stream, then read the test stream with it."""
    losses = []
    for lr in lrs:
        weights = read(base, trunk, phi, corpus.validation, corpus.window, lr=lr)
        own = asked(questions_of(corpus.validation), corpus.window).on(base.device)
        with torch.no_grad():
            value = float(answer_loss(base.net, weights, own))
        losses.append(value if math.isfinite(value) else math.inf)
    place = min(range(len(lrs)), key=lambda at: losses[at])
    questions = questions_of(corpus.test)
    after = read(base, trunk, phi, corpus.test, corpus.window, lr=lrs[place])

    def asked_of(weights: Weights) -> Scores:
        return scored(base.net, weights, questions, corpus.window, corpus.text)

    return Reading(
        before=asked_of(base.weights),
        after=asked_of(after),
        lr=lrs[place],
        lr_place=place,
        validation_loss=losses[place],
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How a base model is trained: AdamW with a warm-up and a cosine to a tenth."""

    num_steps: int
    batch_size: int
    """Documents, and as many questions."""
    lr: float = 3e-3
    warmup_steps: int = 50
    weight_decay: float = 0.01


def trained(net: Gpt, corpus: Corpus, recipe: Recipe, generator: torch.Generator) -> Weights:
    """Train a model on known documents and their questions, and half on those met in passing.

    Facts met in passing teach it to be unsure of what it has not read; known ones, to keep what it
    has read.
    """
    weights = net.drawn(generator)
    leaves = [leaf.requires_grad_() for leaf in weights.values()]
    optimizer = torch.optim.AdamW(leaves, lr=recipe.lr, weight_decay=recipe.weight_decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _share(step, recipe))
    parts = [part for part in (corpus.known, corpus.passing) if part]
    texts = [padded(part, corpus.window) for part in parts]
    questions = [asked(questions_of(part), corpus.window) for part in parts]
    size = recipe.batch_size // len(parts)
    for _ in range(recipe.num_steps):
        losses = []
        for text, question in zip(texts, questions, strict=True):
            own = _some(text, size, generator)
            read = negative_log_likelihood(net, weights, own.tokens)
            losses.append(masked_mean(read, own.counts[:, 1:]))
            losses.append(answer_loss(net, weights, _some(question, size, generator)))
        optimizer.zero_grad()
        (torch.stack(losses).sum() / len(parts)).backward()
        optimizer.step()
        schedule.step()
    return {name: leaf.detach() for name, leaf in weights.items()}


def _share(step: int, recipe: Recipe) -> float:
    cosine = 0.5 * (1 + math.cos(math.pi * step / recipe.num_steps))
    return min(1.0, (step + 1) / recipe.warmup_steps) * (0.1 + 0.9 * cosine)


def _some(rows: Sequences, count: int, generator: torch.Generator) -> Sequences:
    drawn = torch.randint(len(rows.tokens), (count,), generator=generator)
    return Sequences(rows.tokens[drawn], rows.counts[drawn])
