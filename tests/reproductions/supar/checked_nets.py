"""Tiny language models under a parameterization, as a user of the coordinate check builds them.

Transformers' Llama and GPT-2 from configurations, with random weights. Their forward
multipliers are hooks, and their attention scales an attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from reproductions.supar import (
    TABLE_3,
    CheckedModel,
    Parameterization,
    Scheme,
    infer_roles,
    linear_layers,
    param_groups,
    sparsify,
)

PROXY, HEAD, VOCABULARY, POSITIONS = 32, 16, 64, 16
Factory = Callable[..., CheckedModel]


def llama(width: int, *, num_layers: int = 1, tied: bool = True) -> Any:
    """Return a Llama of transformers."""
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=num_layers,
        num_attention_heads=width // HEAD,
        num_key_value_heads=width // HEAD,
        tie_word_embeddings=tied,
        use_cache=False,
    )
    return transformers.LlamaForCausalLM(config)


def gpt2(width: int, *, num_layers: int = 1) -> Any:
    """Return a GPT-2 of transformers, without dropout."""
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY,
        n_embd=width,
        n_layer=num_layers,
        n_head=width // HEAD,
        n_positions=POSITIONS,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        use_cache=False,
    )
    return transformers.GPT2LMHeadModel(config)


def checked_llama(scheme: Scheme) -> Factory:
    """Return what builds a Llama whose linear layers are sparse."""

    def make(*, width: int, density: float, seed: int) -> CheckedModel:
        table, model = _table(scheme, width, density), llama(width)
        _scale(model, table, model.model.embed_tokens, [b.self_attn for b in model.model.layers])
        hidden = linear_layers(model, exclude=["lm_head"])
        sparsify(model, layers=hidden, density=density, generator=_generator(seed))
        return _checked(model, table, infer_roles(model, hidden), seed)

    return make


def checked_gpt2(scheme: Scheme) -> Factory:
    """Return what builds a dense GPT-2: its layers are no nn.Linear, so none has a mask."""

    def make(*, width: int, density: float, seed: int) -> CheckedModel:
        assert density == 1.0
        table, model = _table(scheme, width, density), gpt2(width)
        _scale(model, table, model.transformer.drop, [b.attn for b in model.transformer.h])
        roles = infer_roles(model, ["transformer.h"])
        return _checked(model, table, roles, seed)

    return make


def _table(scheme: Scheme, width: int, density: float) -> Parameterization:
    return Parameterization(
        scheme=scheme, width_multiplier=width / PROXY, density=density, base=TABLE_3
    )


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _scale(model: Any, table: Parameterization, embedded: nn.Module, attention: list[Any]) -> None:
    """Put a parameterization's multipliers into a model of transformers."""
    embedded.register_forward_hook(lambda _, __, out: out * table.embedding_multiplier)
    model.lm_head.register_forward_pre_hook(lambda _, given: (given[0] * table.logit_multiplier,))
    for layer in attention:
        layer.scaling = table.attention_scale(HEAD)


def _checked(model: nn.Module, table: Parameterization, roles: Any, seed: int) -> CheckedModel:
    table.initialize(model, roles, _generator(seed))
    groups = param_groups(model, table, roles, weight_decay=0.0, decay="coupled")
    return CheckedModel(
        model=model,
        optimizer=torch.optim.AdamW(groups, betas=(0.9, 0.95)),
        loss=_loss,
        batches=torch.randint(VOCABULARY, (3, 4, POSITIONS), generator=_generator(seed)),
    )


def _loss(model: Any, tokens_BT: Tensor) -> Tensor:
    return model(input_ids=tokens_BT, labels=tokens_BT).loss
