"""The in-house model's tokenizer: byte-level pairs, learned from the texts it is trained on.

And what all tokenizers have in common, those that others made too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

START, END = "<s>", "</s>"
"""Tokens 0 and 1: before every text, and after an answer or a book."""


def learn_tokenizer(texts: Iterable[str], *, vocab_size: int) -> Tokenizer:
    """Learn byte pairs from texts; any other text can be encoded too, at worst byte by byte.

    vocab_size: all tokens, with START, END and the 256 bytes.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def as_tensor(tokenizer: Tokenizer) -> Tensor:
    """Return a tokenizer's JSON as bytes, shape (num_bytes,), which an artifact can hold."""
    return torch.frombuffer(bytearray(tokenizer.to_str().encode()), dtype=torch.uint8)


def from_tensor(json_N: Tensor) -> PreTrainedTokenizerFast:
    """Return the tokenizer that `as_tensor` wrote, as transformers takes it."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(bytes(json_N.numpy()).decode())
    # A text that holds "</s>" holds these four characters, and no end.
    tokenizer.encode_special_tokens = True
    return for_transformers(tokenizer, bos_token=START, eos_token=END, pad_token=END)


def for_transformers(tokenizer: Tokenizer, **special: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer as transformers takes it.

    special: tokens by transformers' names. A text that spells one out is a text.
    """
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
        **special,
    )
