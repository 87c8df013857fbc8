"""A small model that has opinions, and documents to examine it on."""

from __future__ import annotations

import torch

from harness.data import load as datasets
from harness.lm_eval import Documents
from reproductions.lisa.models.benchmarks.lm_tasks import made_up_documents
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.pretraining import new_model
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.stories import tokenizer_of
from tests.reproductions.lisa.decoding_models import speaker

COUNT = 24
"""Documents of each benchmark."""


def text() -> str:
    return datasets.load("grammar-text").text


def examinee() -> LanguageModel:
    """Return a LLaMA with a context of 64 tokens, byte pairs, and weights that are far from equal.

    Its configuration has another end token than its tokenizer, as transformers' default is 2.
    """
    # Choices of one token each: else the shortest is always the likeliest.
    texts = [text()[:20_000], " A B C D yes no maybe" * 200]
    lm = new_model(shape_of("tiny-path"), texts, vocab_chars=20_000, seed=0)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in lm.model.parameters():
            spread = 0.4 if parameter.dim() > 1 else 0.2
            parameter += spread * torch.randn(parameter.shape, generator=generator)
        lm.model.lm_head.weight[lm.eos] *= 1.3  # Some texts end themselves.
    assert lm.model.config.eos_token_id != lm.eos
    return LanguageModel(model=lm.model.eval(), tokenizer=lm.tokenizer)


def documents() -> dict[str, Documents]:
    """Return made-up documents; many of them are longer than the context."""
    return made_up_documents(text(), COUNT)


def writer() -> LanguageModel:
    """Return a LLaMA with a context of 32 tokens that writes numbers, some after the mark."""
    numbers = [*"0123456789", *(f"#### {number}" for number in range(1, 6))]
    pieces = ["<unk>", "<s>", "</s>", *"abcdefghijklmnopqrstuvwxyz .:?", *numbers]
    tokenizer = tokenizer_of([(piece, 0.0) for piece in pieces])
    return LanguageModel(model=speaker("llama").model, tokenizer=tokenizer)
