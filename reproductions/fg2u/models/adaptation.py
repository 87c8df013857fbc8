"""CaMeLS: a weight per token, so that one step of descent per document teaches what is asked later.

Inner: one step of SGD per document on its tokens' weighted negative log-likelihood. Outer: the
answers' negative log-likelihood after all documents, and a divergence on unrelated text.
Source: arXiv 2406.14095, App. E.2, eqs. 44 and 45; the released code of (FG)2U's CaMeLS.
Letters: T documents, L tokens, D features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear, softplus

from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.models.documents import Corpus, Document, Sequences, asked, padded
from reproductions.fg2u.models.gpt import Net, Weights

Divergence = Literal["updated_initial", "initial_updated"]
"""Kullback-Leibler of the first from the second: the paper prints the one, its code has the other.
"""
BETA = 3.0
"""Of softplus: untrained weights are ln(2)/3 for every token."""
LOCALITY = 0.1
NUM_LOCAL = 4
"""Unrelated documents per outer step."""
Phi = dict[str, Any]
"""A layer's `slope` and `offset`; where more is learned, a layer `inside` before it, with its
`inside_bias`, and the `trunk`'s own weights."""
NUM_INSIDE = 128
"""Units of that layer, as in the released code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    """A language model and the weights that it starts from."""

    net: Net
    weights: Weights

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(iter(self.weights.values())).device

    @property
    def num_features(self) -> int:
        """Entries of its last layer's output at a token."""
        tokens = torch.zeros(1, 2, dtype=torch.int64, device=self.device)
        with torch.no_grad():
            return self.net.hidden(self.weights, tokens).shape[-1]


def no_preference(num_features: int, device: str | torch.device = "cpu") -> Phi:
    """Return the weight model before training: all tokens weigh the same."""
    zeros = torch.zeros(num_features + 1, device=device)
    return {"slope": zeros[:-1].clone(), "offset": zeros[-1:].clone()}


def whole_model(trunk: Base, generator: torch.Generator) -> Phi:
    """Return the released code's weight model before training: a trunk of its own and two layers.

    Its last layer is zero, so that all tokens weigh the same.
    """
    width = trunk.num_features
    inside = torch.randn(NUM_INSIDE, width, generator=generator) / width**0.5
    return {
        **no_preference(NUM_INSIDE, trunk.device),
        "inside": inside.to(trunk.device),
        "inside_bias": torch.zeros(NUM_INSIDE, device=trunk.device),
        "trunk": {name: weight.clone() for name, weight in trunk.weights.items()},
    }


def token_weights(phi: Phi, features_TLD: Tensor) -> Tensor:
    """Return a weight per token, shape (T, L): layers over the trunk's output, then softplus."""
    if "inside" in phi:
        features_TLD = gelu(linear(features_TLD, phi["inside"], phi["inside_bias"]))
    # The root keeps steps of phi alike whatever the width.
    slope = phi["slope"] / features_TLD.shape[-1] ** 0.5
    return softplus(features_TLD @ slope + phi["offset"], beta=BETA)


def features(trunk: Base, tokens_TL: Tensor) -> Tensor:
    """Return what weights are computed from where the trunk is frozen: its output at each token."""
    with torch.no_grad():
        return trunk.net.hidden(trunk.weights, tokens_TL)


def weighed(phi: Phi, trunk: Base, tokens_TL: Tensor) -> Tensor:
    """Return the weights of documents' tokens, without history."""
    if "trunk" in phi:
        trunk = Base(net=trunk.net, weights=phi["trunk"])
    with torch.no_grad():
        return token_weights(phi, features(trunk, tokens_TL))


def masked_mean(values: Tensor, counts: Tensor) -> Tensor:
    """Return the mean of what counts: the one masked loss of every method and score."""
    return (values * counts).sum() / counts.sum()


def negative_log_likelihood(net: Net, weights: Weights, tokens_BL: Tensor) -> Tensor:
    """Return that of each token but the first, shape (B, L - 1)."""
    scores = net.logits(weights, tokens_BL[:, :-1])
    chosen = scores.gather(-1, tokens_BL[:, 1:, None])[..., 0]
    return scores.logsumexp(-1) - chosen


def answer_loss(net: Net, weights: Weights, questions: Sequences) -> Tensor:
    """Return the mean negative log-likelihood of the answers' tokens."""
    losses = negative_log_likelihood(net, weights, questions.tokens)
    return masked_mean(losses, questions.counts[:, 1:])


def document_loss(
    net: Net, weights: Weights, tokens_L: Tensor, weights_L: Tensor, counts_L: Tensor
) -> Tensor:
    """Return a document's weighted loss, over all positions of the window, padded ones too."""
    losses = negative_log_likelihood(net, weights, tokens_L[None])[0]
    return (losses * (weights_L * counts_L)[1:]).sum() / len(tokens_L)


class Episode(NamedTuple):
    """What an outer step is fixed by."""

    documents: Sequences
    features: Tensor
    """Of the documents' tokens, shape (T, L, D)."""
    questions: Sequences
    local: Sequences
    """Unrelated text."""
    local_log_probs: Tensor
    """The base model's own on it."""


def episode(
    documents: Sequence[Document], local: Sequence[Document], window: int,
    *, base: Base, trunk: Base, which: Sequence[int],
) -> Episode:  # fmt: skip
    """Return documents in their order, with one question each. which: number of that question."""
    tokens = padded(documents, window).on(base.device)
    unrelated = padded(local, window).on(base.device)
    with torch.no_grad():
        log_probs = base.net.logits(base.weights, unrelated.tokens).log_softmax(-1)
    chosen = [
        one.questions[at % len(one.questions)]
        for one, at in zip(documents, which, strict=True)
        if one.questions
    ]
    return Episode(
        documents=tokens,
        features=features(trunk, tokens.tokens),
        questions=asked(chosen, window).on(base.device),
        local=unrelated,
        local_log_probs=log_probs,
    )


def episodes(
    corpus: Corpus, depth: int, generator: torch.Generator, *, base: Base, trunk: Base
) -> Iterator[Episode]:
    """Yield stretches of the meta stream, each of as many documents as the unroll has steps."""

    def drawn(below: int, count: int) -> list[int]:
        return torch.randint(below, (count,), generator=generator).tolist()

    while True:
        (start,) = drawn(max(1, len(corpus.meta) - depth + 1), 1)
        yield episode(
            corpus.meta[start : start + depth],
            [corpus.known[at] for at in drawn(len(corpus.known), NUM_LOCAL)],
            corpus.window,
            base=base,
            trunk=trunk,
            which=drawn(2**16, len(corpus.meta[start : start + depth])),
        )


def locality(net: Net, weights: Weights, batch: Episode, direction: Divergence) -> Tensor:
    """Return how far the model has moved on unrelated text, per token."""
    now = net.logits(weights, batch.local.tokens).log_softmax(-1)
    first, second = now, batch.local_log_probs
    if direction == "initial_updated":
        first, second = second, first
    return masked_mean((first.exp() * (first - second)).sum(-1), batch.local.counts)


def adaptation(
    base: Base, *, depth: int, lr: float, direction: Divergence, trunk: Net | None = None
) -> Problem:
    """Return the problem whose phi weighs tokens. trunk: the net of a phi with its own trunk."""

    def loss(weights: Weights, phi: Phi, batch: Episode, number: int) -> Tensor:
        tokens, counts = batch.documents
        if trunk is None:
            weights_L = token_weights(phi, batch.features[number])
        else:
            seen = trunk.hidden(phi["trunk"], tokens[number][None])[0]
            weights_L = token_weights(phi, seen)
        return document_loss(base.net, weights, tokens[number], weights_L, counts[number])

    def outer(weights: Weights, phi: Phi, batch: Episode) -> Tensor:
        answers = answer_loss(base.net, weights, batch.questions)
        return answers + LOCALITY * locality(base.net, weights, batch, direction)

    return from_loss(
        start=lambda phi, batch: base.weights,
        loss=loss,
        outer_loss=outer,
        optimizer=Sgd(lr=lr),
        num_steps=depth,
    )


def separation(phi: Phi, trunk: Base, documents: Sequence[Document], window: int) -> float:
    """Return how well weights tell tokens of answers from the others: the area under the curve."""
    tokens, counts = padded(documents, window)
    weights = weighed(phi, trunk, tokens.to(trunk.device)).cpu()
    states = torch.zeros_like(counts, dtype=torch.bool)
    for number, document in enumerate(documents):
        states[number, : len(document.tokens)] = torch.tensor(document.states_value)
    real = counts.bool()
    above = weights[real & states].double()[:, None] - weights[real & ~states].double()[None]
    return float((above > 0).double().mean() + (above == 0).double().mean() / 2)
