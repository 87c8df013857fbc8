"""SmolLM2-135M-Instruct from its GGUF file, in transformers' form and in float32.

transformers unpacks the weights. The tokenizer it would make of the file splits runs of spaces,
which SmolLM's does not; so it is made here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from harness.errors import SpecError
from reproductions.lisa.models.language_model import LanguageModel

CONTROL = 3
"""ggml's type of a token that no text spells."""


def load_smollm(path: Path) -> LanguageModel:
    """Return the model of a GGUF file, in evaluation mode, with its tokenizer.

    Raises SpecError for another architecture or tokenizer.
    """
    file = GGUFReader(path)
    kinds = _fact(file, "general.architecture"), _fact(file, "tokenizer.ggml.pre")
    if kinds != ("llama", "smollm"):
        raise SpecError(f"need a llama with SmolLM's tokenizer, found {kinds}")
    # transformers draws a new model's weights from the global generator.
    with torch.random.fork_rng():
        model = LlamaForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        )
    return LanguageModel(model=model.eval(), tokenizer=_tokenizer_of(file))


def _fact(file: GGUFReader, name: str) -> Any:
    field = file.get_field(name)
    return field.contents() if field else None


def _tokenizer_of(file: GGUFReader) -> PreTrainedTokenizerFast:
    """Return byte-level BPE that splits off every digit, as SmolLM's."""
    tokens, merges, kinds, first, last = (
        _fact(file, f"tokenizer.ggml.{name}")
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
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=tokens[first],
        eos_token=tokens[last],
        # A text that spells out a special token is a text.
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
    )
