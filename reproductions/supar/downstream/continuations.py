"""Score continuations by a GPT, and the substitute for Table 2 that a tiny net can take.

The substitute: four continuations of held-out text, one of them the true one, chosen by summed
log-likelihood; and the last word of a sentence, right where every token of it is the greedy
choice. Guessing scores 1/4 and 0, as in Table 2's multiple choice and LAMBADA.

Letters in tensor names: B sequences, T positions, V vocabulary, N tokens of a text, S scored
positions of a batch.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from harness.errors import DataError
from reproductions.nets.gpt import GPT, GPTConfig
from reproductions.supar.method.masked_layer import MASK

MAX_TOKENS = 64 * 128
"""Tokens in one forward pass."""

_LAST_WORD = re.compile(rb"( [A-Za-z]+)[.!?]")

Tokens = Sequence[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """What a net makes of a continuation."""

    log_likelihood: float
    """Summed over its tokens, in nats."""
    is_greedy: bool
    """Whether each of its tokens is the most likely one after all before it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One question: which of some continuations follows a context."""

    context: bytes
    choices: tuple[bytes, ...]
    answer: int
    """Index of the true continuation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    pair: int
    tokens: Tokens
    """Inputs and, one place ahead, targets."""
    num_scored: int
    """Targets at the end that count."""


def load_net(config: GPTConfig, tensors: Mapping[str, Tensor]) -> GPT:
    """Return a trained net for scoring; masked weights are zeros, so it needs no masks."""
    model = GPT(config, generator=torch.Generator())
    weights = {name: value for name, value in tensors.items() if not name.endswith(f".{MASK}")}
    model.load_state_dict(weights)
    return model.eval()


@torch.inference_mode()
def score(model: GPT, pairs: Sequence[tuple[Tokens, Tokens]]) -> list[Scored]:
    """Score (context, continuation) pairs, both non-empty, in batches.

    A context too long for the net loses its oldest tokens. A continuation over half as long as
    the net's context is scored in parts, each after all that fits before it.
    """
    sums = torch.zeros(len(pairs), dtype=torch.float64)
    num_missed = torch.zeros(len(pairs), dtype=torch.int64)
    windows = [w for index, pair in enumerate(pairs) for w in _windows(model, index, *pair)]
    for batch in _batches(windows):
        log_probs_S, greedy_S = _score_batch(model, batch)
        pairs_S = torch.tensor([w.pair for w in batch for _ in range(w.num_scored)])
        sums.index_add_(0, pairs_S, log_probs_S)
        num_missed.index_add_(0, pairs_S, (~greedy_S).long())
    return [
        Scored(log_likelihood=total, is_greedy=missed == 0)
        for total, missed in zip(sums.tolist(), num_missed.tolist(), strict=True)
    ]


def _windows(model: GPT, pair: int, context: Tokens, continuation: Tokens) -> Iterator[_Window]:
    if not context:
        raise DataError("a continuation without context: hand in the token that texts begin with")
    longest = model.config.context
    whole = [*context, *continuation]
    part = max(1, longest // 2)
    for start in range(len(context), len(whole), part):
        end = min(start + part, len(whole))
        # One more than the net takes: the last token is only a target.
        tokens = whole[max(0, end - longest - 1) : end]
        yield _Window(pair=pair, tokens=tokens, num_scored=end - start)


def _batches(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    """Group windows of like length, longest first, into batches of at most MAX_TOKENS."""
    batch: list[_Window] = []
    for window in sorted(windows, key=lambda window: -len(window.tokens)):
        if batch and (len(batch) + 1) * len(batch[0].tokens) > MAX_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _score_batch(model: GPT, batch: Sequence[_Window]) -> tuple[Tensor, Tensor]:
    """Return log-probability and greediness of every scored target, on the CPU, float64 sums."""
    length = len(batch[0].tokens)
    # Padding stands at the end, where a causal net's earlier positions do not see it.
    padded = torch.tensor([[*w.tokens, *[0] * (length - len(w.tokens))] for w in batch])
    places_T = torch.arange(length - 1)
    ends_B1 = torch.tensor([[len(w.tokens) - 1] for w in batch])
    counts_B1 = torch.tensor([[w.num_scored] for w in batch])
    scored_BT = (places_T < ends_B1) & (places_T >= ends_B1 - counts_B1)
    device = model.tokens.weight.device
    logits_BTV = model(padded[:, :-1].to(device))
    targets_S = padded[:, 1:][scored_BT].to(device)
    logits_SV = logits_BTV[scored_BT.to(device)]
    log_probs_S = logits_SV.log_softmax(-1).gather(1, targets_S[:, None])[:, 0]
    greedy_S = logits_SV.argmax(-1) == targets_S
    return log_probs_S.double().cpu(), greedy_S.cpu()


def choice_items(
    text_N: Tensor,
    *,
    num_items: int,
    num_choices: int,
    context: int,
    continuation: int,
    generator: torch.Generator,
) -> list[Item]:
    """Draw questions from a text of bytes: where it goes on, and passages from elsewhere.

    All continuations begin a word and have `continuation` bytes; false ones begin at least a
    whole question's length away. Raises DataError where the text is too short.
    """
    span = context + continuation
    starts_N = _after_space(text_N)
    starts_N = starts_N[(starts_N >= context) & (starts_N <= len(text_N) - continuation)]
    if len(starts_N) < num_items or len(text_N) < 4 * span * num_choices:
        raise DataError(f"a text of {len(text_N)} bytes is too short for {num_items} questions")
    text = bytes(text_N.tolist())
    items = []
    order_N = torch.randperm(len(starts_N), generator=generator)
    for start in starts_N[order_N[:num_items]].tolist():
        places: list[int] = []
        while len(places) < num_choices - 1:
            drawn = int(starts_N[torch.randint(len(starts_N), (), generator=generator)])
            if abs(drawn - start) >= span and drawn not in places:
                places.append(drawn)
        answer = int(torch.randint(num_choices, (), generator=generator))
        places.insert(answer, start)
        choices = tuple(text[place : place + continuation] for place in places)
        items.append(Item(context=text[start - context : start], choices=choices, answer=answer))
    return items


def last_word_items(
    text_N: Tensor, *, num_items: int, context: int, generator: torch.Generator
) -> list[Item]:
    """Draw sentences from a text of bytes: what stands before the last word, and that word.

    The word keeps the space before it, as in LAMBADA. Raises DataError where there are too few.
    """
    text = bytes(text_N.tolist())
    spaces_N = _after_space(text_N) - 1
    spaces_N = spaces_N[spaces_N >= context]
    items: list[Item] = []
    for start in spaces_N[torch.randperm(len(spaces_N), generator=generator)].tolist():
        if len(items) == num_items:
            break
        if found := _LAST_WORD.match(text, start):
            items.append(Item(context=text[start - context : start], choices=(found[1],), answer=0))
    if len(items) < num_items:
        raise DataError(
            f"a text of {len(text)} bytes ends {len(items)} sentences, need {num_items}"
        )
    return items


def _after_space(text_N: Tensor) -> Tensor:
    """Return the places of bytes that follow a space."""
    return torch.nonzero(text_N == ord(" "))[:, 0] + 1


def choice_accuracy(model: GPT, items: Sequence[Item]) -> float:
    """Return the fraction of items whose true continuation is the likeliest; the first of equals.

    Choices of an item must have one length: sums over unlike lengths do not compare.
    """
    scored = score(model, [(item.context, choice) for item in items for choice in item.choices])
    sums = iter([one.log_likelihood for one in scored])
    num_right = 0
    for item in items:
        own = [next(sums) for _ in item.choices]
        num_right += own.index(max(own)) == item.answer
    return num_right / len(items)


def greedy_accuracy(model: GPT, items: Sequence[Item]) -> float:
    """Return the fraction of items whose true continuation is greedy, token by token."""
    scored = score(model, [(item.context, item.choices[item.answer]) for item in items])
    return sum(one.is_greedy for one in scored) / len(items)


def items_sha256(items: Sequence[Item]) -> str:
    """Return a hash of what is asked, to show that all nets were asked the same."""
    digest = hashlib.sha256()
    for item in items:
        for part in (item.context, *item.choices, bytes([item.answer])):
            digest.update(len(part).to_bytes(4, "big") + part)
    return digest.hexdigest()
