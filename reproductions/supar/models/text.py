"""Text as tokens: vocabulary, splits, and the batches a training run sees.

Letters in tensor names: B sequences, T positions, N tokens of a whole text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from harness.errors import DataError

GPT2_TOKENS = 50257
SPLITS = (0.90, 0.05, 0.05)
"""Fractions of a text for training, validation and test, in the order of the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """A text as token ids of any integer type, in three contiguous parts."""

    train_N: Tensor
    validation_N: Tensor
    test_N: Tensor
    vocab_size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Inputs and, one place ahead, targets, both of shape (B, T)."""

    tokens_BT: Tensor
    targets_BT: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        return Batch(tokens_BT=self.tokens_BT.to(device), targets_BT=self.targets_BT.to(device))

    def for_all(self, num_members: int) -> Batch:
        """Return the batch for all members of a stack, both of shape (M, B, T)."""
        shape = num_members, *self.tokens_BT.shape
        return Batch(
            tokens_BT=self.tokens_BT.expand(shape), targets_BT=self.targets_BT.expand(shape)
        )


def character_corpus(text: str) -> Corpus:
    """Encode a text by the sorted set of its own characters and split it."""
    if not text:
        raise DataError("an empty text has no characters to learn from: check the data set")
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    characters = sorted(map(ord, set(text)))
    table = np.zeros(characters[-1] + 1, dtype=np.int64)
    table[characters] = np.arange(len(characters))
    return split_tokens(torch.from_numpy(table[points]), vocab_size=len(characters))


def byte_corpus(text: str) -> Corpus:
    """Encode a text by its UTF-8 bytes, which any other text has too, and split it.

    One byte a token: of a long text only the windows in use are widened to int64.
    """
    points = np.frombuffer(text.encode(), dtype=np.uint8).copy()
    return split_tokens(torch.from_numpy(points), vocab_size=256)


def gpt2_corpus(text: str) -> Corpus:
    """Encode a text with GPT-2's byte pairs and split it. Raises as `gpt2_tokenizer` does."""
    tokens_N = torch.tensor(gpt2_tokenizer()(text)["input_ids"])
    return split_tokens(tokens_N, vocab_size=GPT2_TOKENS)


def gpt2_tokenizer() -> Any:
    """Return GPT-2's byte pairs from the local cache of transformers.

    Raises DataError where they were never downloaded.
    """
    from transformers import GPT2TokenizerFast  # type: ignore[attr-defined]

    try:
        tokenizer = GPT2TokenizerFast.from_pretrained("gpt2", local_files_only=True)
        # transformers 5 returns an empty tokenizer, without a word, where the files are missing.
        num_tokens = len(tokenizer)
    except OSError:
        num_tokens = 0
    if num_tokens != GPT2_TOKENS:
        raise DataError(
            f"the GPT-2 tokenizer in the local cache of transformers has {num_tokens} tokens and "
            f"not {GPT2_TOKENS}: fetch it with `hf download gpt2 tokenizer.json vocab.json "
            "merges.txt`"
        )
    return tokenizer


def split_tokens(tokens_N: Tensor, *, vocab_size: int) -> Corpus:
    """Cut tokens into contiguous train, validation and test parts."""
    num_train = int(SPLITS[0] * len(tokens_N))
    num_validation = int(SPLITS[1] * len(tokens_N))
    return Corpus(
        train_N=tokens_N[:num_train],
        validation_N=tokens_N[num_train : num_train + num_validation],
        test_N=tokens_N[num_train + num_validation :],
        vocab_size=vocab_size,
    )


def training_batches(
    tokens_N: Tensor, *, context: int, batch_size: int, num_batches: int, generator: torch.Generator
) -> Iterator[Batch]:
    """Yield batches of non-overlapping windows in a random order.

    A window comes back only when all others were seen, in a new order. Raises DataError where
    the text is shorter than one window.
    """
    num_windows = (len(tokens_N) - 1) // context
    if num_windows < 1:
        raise DataError(f"a text of {len(tokens_N)} tokens has no window of {context} and a target")
    needed = num_batches * batch_size
    epochs = [
        torch.randperm(num_windows, generator=generator) for _ in range(-(-needed // num_windows))
    ]
    starts_B = torch.cat(epochs)[:needed] * context
    for starts in starts_B.split(batch_size):
        yield windows_at(tokens_N, starts, context=context)


def held_out_batch(tokens_N: Tensor, *, context: int, num_windows: int) -> Batch:
    """Return windows spread evenly over a held-out part: the same for every run."""
    available = (len(tokens_N) - 1) // context
    if available < 1:
        raise DataError(f"a part of {len(tokens_N)} tokens has no window of {context} and a target")
    places = torch.linspace(0, available - 1, min(num_windows, available)).round().long()
    return windows_at(tokens_N, places * context, context=context)


def windows_at(tokens_N: Tensor, starts_B: Tensor, *, context: int) -> Batch:
    """Return the windows that begin at `starts_B`."""
    window_BT = tokens_N[starts_B[:, None] + torch.arange(context + 1)].long()
    return Batch(tokens_BT=window_BT[:, :-1].contiguous(), targets_BT=window_BT[:, 1:].contiguous())
