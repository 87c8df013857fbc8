"""Instructions with answers, as a model learns from them: prompts, splits, batches.

The loss is taken on answers alone. Letters in tensor names: B sequences, T positions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import nn

from harness.errors import DataError
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.training import TextBatch, mean_loss, pad, shuffled
from reproductions.lisa.models.word_problems import Problem

Record = Mapping[str, Any]
SPLIT_OF = ("validation", "test")
"""One twentieth each, by hash; the rest is for training. Nine to one, as in the paper, with the
tenth halved, so that rates are chosen on other examples than losses are reported on."""

ENCODED_TOGETHER, EVALUATED_TOGETHER = 512, 32
ROOM = 64
"""Tokens of the context for the answer to a problem; at `cpu` both take 62 in all."""
CHARS_PER_TOKEN = 4
"""Texts with more than so many for each token that is allowed are not looked at: next to none of
them would fit, and most of the time would go to encoding them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """An instruction with its answer, as tokens."""

    prompt: tuple[int, ...]
    """With the start token."""
    answer: tuple[int, ...]
    """With the end token."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A model to fine-tune, and examples that fit it, in three splits that share none."""

    lm: LanguageModel
    train: list[Example]
    validation: list[Example]
    test: list[Example]

    def loss(self, model: nn.Module, split: str) -> float:
        """Return the loss in nats per answer token on all of a split."""
        return answer_loss(model, getattr(self, split), padding=self.lm.eos)


def prompt_of(record: Record) -> str:
    """Return what stands before an answer, in the fields of Alpaca's records.

    One line, as not every small vocabulary has a token for its end.

    >>> prompt_of({"instruction": "Add.", "input": "1 and 2", "output": "3"})
    'Instruction: Add. Input: 1 and 2 Response:'
    """
    given = f" Input: {record['input']}" if record["input"] else ""
    return f"Instruction: {record['instruction']}{given} Response:"


def load_instructions(
    records: Sequence[Record],
    lm: LanguageModel,
    *,
    max_tokens: int,
    num_train: int,
    num_held_out: int,
) -> Setting:
    """Return the first records, in the order of their hash, that fit whole into `max_tokens`.

    num_train: examples to train on; num_held_out: of each of the two other splits. Examples with a
    character that the tokenizer lacks are left out. Raises DataError where too few fit.
    """
    wanted = {"train": num_train, "validation": num_held_out, "test": num_held_out}
    found: dict[str, list[Example]] = {name: [] for name in wanted}
    for digest, example in _encoded(records, lm, max_chars=CHARS_PER_TOKEN * max_tokens):
        kind = int(digest, 16) % 20
        split = SPLIT_OF[kind] if kind < len(SPLIT_OF) else "train"
        fits = len(example.prompt) + len(example.answer) <= max_tokens
        if fits and len(found[split]) < wanted[split]:
            found[split].append(example)
        if all(len(found[name]) == wanted[name] for name in wanted):
            break
    lacking = [name for name in wanted if len(found[name]) < wanted[name]]
    if lacking:
        raise DataError(
            f"only {len(found[lacking[0]])} examples of {max_tokens} tokens are in the split"
            f" {lacking[0]}, need {wanted[lacking[0]]}: ask for fewer, or for longer ones"
        )
    return Setting(lm=lm, **found)


def _encoded(
    records: Sequence[Record], lm: LanguageModel, *, max_chars: int
) -> Iterator[tuple[str, Example]]:
    """Yield hash and tokens of records that the tokenizer knows whole, in the order of hashes."""
    short = (record for record in records if _num_chars(record) <= max_chars)
    distinct = {prompt_of(record): record for record in short}
    ordered = iter(sorted((_digest(prompt), prompt) for prompt in distinct))
    while chunk := list(islice(ordered, ENCODED_TOGETHER)):
        prompts = [prompt for _, prompt in chunk]
        texts = [f"{prompt} {distinct[prompt]['output']}" for prompt in prompts]
        for (digest, _), given, whole in zip(
            chunk, lm.encode_all(prompts), lm.encode_all(texts), strict=True
        ):
            # A pair of the vocabulary may join prompt and answer: their border is then no token's.
            known = lm.tokenizer.unk_token_id is None or lm.tokenizer.unk_token_id not in whole
            if known and whole[: len(given)] == given:
                prompt = (lm.bos, *given)
                yield digest, Example(prompt=prompt, answer=(*whole[len(given) :], lm.eos))


def as_examples(problems: Sequence[Problem], lm: LanguageModel) -> list[Example]:
    """Return problems as tokens.

    A prompt that leaves less room for an answer than is kept free loses its beginning, as happens
    to the smallest model. Raises DataError for an answer that is longer.
    """
    room, found = min(ROOM, lm.context - 4), []
    for problem in problems:
        prompt, answer = lm.encode(problem.prompt), [*lm.encode(f" {problem.answer}"), lm.eos]
        if len(answer) > room:
            raise DataError(f"{problem.answer!r} has {len(answer)} tokens, more than {room}")
        most = lm.context - 1 - room
        cut = prompt[max(0, len(prompt) - most) :]
        found.append(Example(prompt=(lm.bos, *cut), answer=tuple(answer)))
    return found


def batches(
    examples: Sequence[Example],
    *,
    batch_size: int,
    num_steps: int,
    padding: int,
    generator: torch.Generator,
) -> Iterator[TextBatch]:
    """Yield batches in a random order; an example comes back when all others were seen."""
    order = shuffled(len(examples), batch_size=batch_size, num_steps=num_steps, generator=generator)
    for rows in order:
        yield batch_of([examples[row] for row in rows.tolist()], padding=padding)


def batch_of(examples: Sequence[Example], *, padding: int) -> TextBatch:
    """Return examples as one batch, with the loss on answers."""
    return pad([((*one.prompt, *one.answer), len(one.prompt)) for one in examples], padding=padding)


def answer_loss(model: nn.Module, examples: Sequence[Example], *, padding: int) -> float:
    """Return the loss in nats per answer token; shorter ones first, so that little is padded."""
    rest = iter(sorted(examples, key=lambda one: len(one.prompt) + len(one.answer)))
    parts = iter(lambda: list(islice(rest, EVALUATED_TOGETHER)), [])
    return mean_loss(model, (batch_of(part, padding=padding) for part in parts))


def _num_chars(record: Record) -> int:
    return len(prompt_of(record)) + len(record["output"])


def _digest(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()
