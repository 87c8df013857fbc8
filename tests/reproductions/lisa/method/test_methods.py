"""Ways to fine-tune behind one interface: what trains, by which formula, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import MixtralConfig, MixtralForCausalLM
from transformers.pytorch_utils import Conv1D

from harness.errors import SpecError
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.method.methods import Galore, Lora, Method
from tests.reproductions.lisa.small import gpt2, llama, trainable

RANK, ALPHA = 4, 6.0
"""alpha / r is neither 1, nor alpha, nor alpha / sqrt(r)."""


def adapted(make: Any, *, embeddings: bool) -> Any:
    """Return a model with adapters whose zero factors are filled."""
    lora = Lora(rank=RANK, alpha=ALPHA, dropout=0.0, embeddings=embeddings)
    model = lora.prepare(make().double(), torch.optim.AdamW).model
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.normal_(generator=generator)
    return model


def product(module: nn.Module) -> Tensor | None:
    """Return B A of a module's adapter, as its weight lies; None where it has none."""
    base = getattr(module, "base_layer", None)
    if base is None:
        return None
    words = isinstance(base, nn.Embedding)
    a, b = (getattr(module, f"lora_{'embedding_' * words}{name}")["default"] for name in "AB")
    update = b @ a if words else b.weight @ a.weight
    return (update.T if isinstance(base, nn.Embedding | Conv1D) else update).detach().clone()


@pytest.mark.parametrize(("make", "embeddings", "count"), [(llama, True, 30), (gpt2, False, 12)])
def test_merged_weights_are_the_base_s_and_alpha_over_rank_of_the_product(
    make: Any, embeddings: bool, count: int
) -> None:
    """W + (alpha / r) B A, arXiv 2106.09685, section 4.1."""
    base, model = dict(make().double().named_parameters()), adapted(make, embeddings=embeddings)
    updates = {
        name.removeprefix("base_model.model."): update
        for name, module in model.named_modules()
        if (update := product(module)) is not None
    }
    assert len(updates) == count
    for name, merged in model.merge_and_unload().named_parameters():
        update = updates.get(name.removesuffix(".weight"), torch.zeros(()).double())
        torch.testing.assert_close(merged, base[name] + ALPHA / RANK * update, rtol=0, atol=1e-12)


def test_only_adapters_train_in_the_model_s_own_type_and_with_dropout() -> None:
    lora = Lora(rank=RANK, alpha=ALPHA, dropout=0.25, embeddings=False)
    prepared = lora.prepare(llama().bfloat16(), torch.optim.AdamW)
    held = [p for group in prepared.optimizer.param_groups for p in group["params"]]
    told = {n: p for n, p in prepared.model.named_parameters() if p.requires_grad}
    assert [id(p) for p in held] == [id(p) for p in told.values()]
    assert all("lora_" in name for name in told)
    assert {p.dtype for p in told.values()} == {torch.bfloat16}
    assert prepared.num_trainable == trainable(prepared.model) == sum(p.numel() for p in held)
    rates = [m.p for m in prepared.model.modules() if isinstance(m, nn.Dropout)]
    assert rates and set(rates) == {0.25}


@pytest.mark.parametrize("make", [llama, gpt2])
def test_embeddings_head_and_final_norm_train_beside_adapters_where_asked(make: Any) -> None:
    model = make()
    outside, inside = find_blocks(model).outside, find_blocks(model).inside
    lora = Lora(rank=RANK, alpha=ALPHA, dropout=0.0, embeddings=False, outside=True)
    prepared = lora.prepare(model, torch.optim.AdamW)
    assert all(parameter.requires_grad for parameter in outside)
    assert not any(parameter.requires_grad for block in inside for parameter in block)
    held = {id(p) for group in prepared.optimizer.param_groups for p in group["params"]}
    told = {id(p): n for n, p in prepared.model.named_parameters() if p.requires_grad}
    assert held == told.keys() > {id(p) for p in outside}
    with pytest.raises(SpecError, match="and not both"):
        Lora(rank=RANK, alpha=ALPHA, dropout=0.0, embeddings=True, outside=True)


def test_an_adapter_that_would_do_nothing_is_refused() -> None:
    with pytest.raises(SpecError, match="need rank >= 1, alpha > 0 and 0 <= dropout < 1"):
        Lora(rank=2, alpha=0.0, dropout=0.0, embeddings=False)


def mixtral() -> MixtralForCausalLM:
    """Return a model whose experts are one tensor a block, and no linear layers."""
    return MixtralForCausalLM(MixtralConfig(
        vocab_size=48, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, num_local_experts=4,
    ))  # fmt: skip


@pytest.mark.parametrize(
    "method", [Lora(rank=RANK, alpha=ALPHA, dropout=0.0, embeddings=False), Galore(rank=RANK)]
)
def test_experts_that_are_no_linear_layers_are_told(method: Method) -> None:
    """Two blocks of a router of 4 x 16, and four experts of 16 x 48 and 24 x 16."""
    words = r"9,344 of 12,\d{3} weights, such as model\.layers\.0\.mlp\.experts\.gate_up_proj"
    with pytest.warns(RuntimeWarning, match=words):
        method.prepare(mixtral(), torch.optim.AdamW)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for make in (llama, gpt2):
            method.prepare(make(), torch.optim.AdamW)
