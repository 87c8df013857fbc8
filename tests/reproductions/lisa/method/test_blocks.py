"""Blocks are found in models of many families, or the reason is said."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

from harness.errors import SpecError
from reproductions.lisa import find_blocks
from reproductions.lisa.method.blocks import embedding_parameters
from tests.reproductions.lisa.small import gpt2, llama

SHAPES = {
    "llama": ("model.layers", {}),
    "gpt2": ("transformer.h", {"n_layer": 3, "n_head": 4, "n_embd": 32}),
    "gpt_neox": ("gpt_neox.layers", {}),
    "opt": ("model.decoder.layers", {"ffn_dim": 32, "word_embed_proj_dim": 32}),
    "mixtral": ("model.layers", {"num_key_value_heads": 4, "num_local_experts": 4}),
}


@pytest.mark.parametrize("family", SHAPES)
def test_blocks_are_found_by_structure(family: str) -> None:
    path, more = SHAPES[family]
    common = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 3, "vocab_size": 64}
    common |= {"num_attention_heads": 4, "pad_token_id": 0}
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **common, **more))
    blocks = find_blocks(model)
    assert (blocks.path, len(blocks)) == (path, 3)
    inside = {id(p) for block in blocks.inside for p in block}
    outside = {id(p) for p in blocks.outside}
    assert inside | outside == {id(p) for p in model.parameters()}
    assert not inside & outside


def test_embeddings_and_head_are_told_from_the_final_norm() -> None:
    model = llama()
    names = {id(p): name for name, p in model.named_parameters()}
    found = {names[id(p)] for p in embedding_parameters(model, find_blocks(model))}
    assert found == {"model.embed_tokens.weight", "lm_head.weight"}
    assert "model.norm.weight" in {names[id(p)] for p in find_blocks(model).outside}


def test_tied_head_counts_once_and_positions_are_embeddings() -> None:
    model = gpt2()
    names = {id(p): name for name, p in model.named_parameters()}
    found = [names[id(p)] for p in embedding_parameters(model, find_blocks(model))]
    assert sorted(found) == ["transformer.wpe.weight", "transformer.wte.weight"]


class Holder(nn.Module):
    """A module that holds a language model, as a training library's does."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.net = model


def test_the_head_of_a_model_within_another_is_known() -> None:
    model = Holder(llama())
    names = {id(p): name for name, p in model.named_parameters()}
    found = {names[id(p)] for p in embedding_parameters(model, find_blocks(model))}
    assert found == {"net.model.embed_tokens.weight", "net.lm_head.weight"}


class Experts(nn.Module):
    """A block that holds its experts in a list, as models of many authors do."""

    def __init__(self) -> None:
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))


def test_experts_within_a_block_are_no_stack_of_their_own() -> None:
    model = nn.ModuleDict({"layers": nn.ModuleList(Experts() for _ in range(2))})
    blocks = find_blocks(model)
    assert (blocks.path, len(blocks), len(blocks.inside[0])) == ("layers", 2, 6)


def t5() -> nn.Module:
    config = AutoConfig.for_model("t5", d_model=32, d_ff=32, d_kv=8, num_layers=2, num_heads=4,
                                  vocab_size=64)  # fmt: skip
    with torch.device("meta"):
        return AutoModelForSeq2SeqLM.from_config(config)


def sequential() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))


def sharing() -> nn.Module:
    model = llama()
    model.model.layers[1] = model.model.layers[0]
    return model


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (t5, None, r"'encoder\.block'.*name one as `blocks`"),
        (llama, "model.layer", r"did you mean 'model\.layers'"),
        (sequential, None, r"no nn\.ModuleList of blocks"),
        (sharing, None, "share 9 parameters"),
    ],
)
def test_blocks_that_are_not_found_are_asked_for(make: Any, name: str | None, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        find_blocks(make(), name)


def test_a_stack_that_is_named_is_taken() -> None:
    assert find_blocks(t5(), "decoder.block").path == "decoder.block"
    assert len(find_blocks(sequential(), "1")) == 2
