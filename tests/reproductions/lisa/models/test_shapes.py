"""Counts in closed form against transformers' own models and published numbers."""

from __future__ import annotations

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from harness.errors import SpecError
from reproductions.lisa.models.shapes import SHAPES, Shape, shape_of

PUBLISHED = {
    "gpt2-small": 124_439_808,
    "tinyllama": 1_100_048_384,
    "llama-2-7b": 6_738_415_616,
    "mistral-7b": 7_241_732_096,
    "llama-2-70b": 68_976_648_192,
    "smollm2-135m": 134_515_008,
}


def on_meta(shape: Shape) -> torch.nn.Module:
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(shape.config())


@pytest.mark.parametrize("name", SHAPES)
def test_closed_form_counts_are_those_of_the_real_model(name: str) -> None:
    shape, model = SHAPES[name], on_meta(SHAPES[name])
    assert sum(p.numel() for p in model.parameters()) == shape.num_params
    assert shape.num_params == PUBLISHED.get(name, shape.num_params)
    blocks = model.get_submodule("transformer.h" if shape.family == "gpt2" else "model.layers")
    assert {sum(p.numel() for p in block.parameters()) for block in blocks} == {shape.block_params}


def test_parts_of_llama_2_7b_are_the_published_ones() -> None:
    shape = shape_of("llama-2-7b")
    assert shape.block_params == 202_383_360
    assert shape.embedding_params == 2 * 131_072_000
    assert shape.lora_params(128, embeddings=False) == 319_815_680
    assert shape.lora_params(128, embeddings=True) == 329_056_256
    assert shape.lisa_params(32) == shape.num_params
    assert shape.lisa_params(2) - shape.lisa_params(0) == 2 * 202_383_360


@pytest.mark.parametrize(
    ("name", "embeddings"),
    [("gpt2-small", True), ("gpt2-small", False), ("mistral-7b", True)],
)
def test_adapters_are_as_many_as_peft_makes(name: str, embeddings: bool) -> None:
    model = on_meta(SHAPES[name])
    targets: list[str] | str = "all-linear"
    if embeddings:
        gpt2 = ["wte", "c_attn", "c_proj", "c_fc", "lm_head"]
        llama = ["embed_tokens", "lm_head", "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj",
                 "up_proj", "down_proj"]  # fmt: skip
        targets = gpt2 if SHAPES[name].family == "gpt2" else llama
    adapted = get_peft_model(model, LoraConfig(r=8, target_modules=targets), low_cpu_mem_usage=True)
    count = sum(p.numel() for p in adapted.parameters() if p.requires_grad)
    assert count == SHAPES[name].lora_params(8, embeddings=embeddings)


def test_a_shape_that_is_not_known_is_refused() -> None:
    with pytest.raises(SpecError, match="did you mean 'llama-2-7b'"):
        shape_of("llama-2-7")
