"""SmolLM2-135M-Instruct from its GGUF file, in transformers' form and in float32.

transformers unpacks the weights. The tokenizer it would make of the file splits runs of spaces,
which SmolLM's does not; so it is made here.
"""

from __future__ import annotations

from pathlib import Path

import torch
from gguf import GGUFReader
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.tokenizer import for_transformers

CONTROL = 3
"""ggml's type of a token that no text spells."""


def load_smollm(path: Path) -> LanguageModel:
    """Return the model of a GGUF file, in evaluation mode, with its tokenizer."""
    # transformers draws a new model's weights from the global generator.
    with torch.random.fork_rng():
        model = LlamaForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        )
    return LanguageModel(model=model.eval(), tokenizer=_tokenizer_of(GGUFReader(path)))


def _tokenizer_of(file: GGUFReader) -> PreTrainedTokenizerFast:
    """Return byte-level BPE that splits off every digit, as SmolLM's."""
    tokens, merges, kinds, first, last = (
        file.fields[f"tokenizer.ggml.{name}"].contents()
        for name in ("tokens", "merges", "token_type", "bos_token_id", "eos_token_id")
    )
    vocab = {text: index for index, text in enumerate(tokens)}
    backend = Tokenizer(BPE(vocab=vocab, merges=[tuple(pair.split(" ", 1)) for pair in merges]))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(
        [AddedToken(t, special=True) for t, kind in zip(tokens, kinds, strict=True)
         if kind == CONTROL]
    )  # fmt: skip
    return for_transformers(backend, bos_token=tokens[first], eos_token=tokens[last])
