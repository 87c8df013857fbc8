"""Sizes of models: LLaMA's against the released code's, any other against transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SpecError
from reproductions.paro.method.models import LLAMA, load_model

RELEASED = {
    # parameters, and those of LoRA of rank 16 where the note of the release has them
    "llama-7b": (6_738_415_616, 40_554_496),
    "llama-13b": (12_976_542_720, None),
    "llama-30b": (32_490_605_056, None),
    "llama-65b": (65_285_660_672, 200_527_872),
}
SMALL = {
    "model_type": "llama", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 3,
    "num_attention_heads": 2, "vocab_size": 40, "tie_word_embeddings": False,
}  # fmt: skip

VISION = {
    "model_type": "clip_vision_model", "hidden_size": 8, "intermediate_size": 12,
    "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 28, "patch_size": 14,
}  # fmt: skip


def written(folder: Path, told: Any) -> str:
    """Write a config; return its folder."""
    (folder / "config.json").write_text(told if isinstance(told, str) else json.dumps(told))
    return str(folder)


@pytest.mark.parametrize("name", RELEASED)
def test_llama_has_as_many_parameters_as_the_released_code_s(name: str) -> None:
    model, (num_params, adapters) = load_model(name), RELEASED[name]
    assert model.num_params == num_params
    assert adapters is None or model.lora_params(16) == adapters
    assert set(RELEASED) == set(LLAMA)


def test_the_closed_form_is_what_transformers_builds(tmp_path: Path) -> None:
    shape = LLAMA["llama-7b"]
    told = {
        "model_type": "llama", "hidden_size": shape.hidden, "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.blocks, "num_attention_heads": 32, "vocab_size": shape.vocab,
        "tie_word_embeddings": False,
    }  # fmt: skip
    built, closed = load_model(written(tmp_path, told)), load_model("llama-7b")
    for field in ("num_params", "largest_unit", "adapted"):
        assert getattr(built, field) == getattr(closed, field), field


def test_a_file_and_its_folder_are_one_model(tmp_path: Path) -> None:
    folder = written(tmp_path, SMALL)
    model = load_model(folder)
    assert model == load_model(f"{folder}/config.json")
    block = 4 * 16 * 16 + 3 * 16 * 24 + 2 * 16
    assert model.num_params == 3 * block + 2 * 40 * 16 + 16
    assert model.largest_unit == block
    assert model.transient_bytes() == 4 * block
    assert model.lora_params(2) == 2 * (3 * (4 * 32 + 3 * 40) + 56)


def test_tied_parameters_count_once_and_gpt_2_s_layers_are_linear(tmp_path: Path) -> None:
    told = {
        "model_type": "gpt2", "n_embd": 8, "n_layer": 2, "n_head": 2, "vocab_size": 30,
        "n_positions": 16,
    }  # fmt: skip
    model = load_model(written(tmp_path, told))
    block = 8 * 24 + 24 + 8 * 8 + 8 + 2 * (8 * 32) + 32 + 8 + 4 * 8
    assert model.num_params == 30 * 8 + 16 * 8 + 2 * block + 2 * 8
    assert model.adapted == 2 * (32 + 16 + 40 + 40) + 38


@pytest.mark.parametrize("kind", ["mixtral", "gpt_oss"])
def test_each_expert_has_adapters_of_its_own(kind: str, tmp_path: Path) -> None:
    """Of one type a layer's experts are stored as (outputs, inputs), of the other transposed."""
    told = SMALL | {
        "model_type": kind, "num_local_experts": 4, "num_key_value_heads": 2, "head_dim": 8,
    }  # fmt: skip
    # A gate and what it multiplies are one layer with 2 x 24 outputs.
    expert = (16 + 2 * 24) + (24 + 16)
    assert load_model(written(tmp_path, told)).adapted == 3 * (4 * 32 + 4 * expert) + 16 + 40


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({k: v for k, v in SMALL.items() if k != "hidden_size"}, "has no hidden_size"),
        ({"model_type": "gpt2", "n_embd": 8}, "has no n_layer and no vocab_size"),
        ({"model_type": "lama", "hidden_size": 8}, "no model_type 'lama'; did you mean 'llama'"),
        ({"hidden_size": 8}, "has no model_type"),
        ("{torn", "no JSON that can be read"),
        (SMALL | {"num_hidden_layers": 10**7}, "need a whole number from 1 to 10,000"),
        ({"model_type": "llava", "vision_config": VISION}, "has no hidden_size of text"),
        ({"model_type": "llava", "vision_config": VISION,
          "text_config": {"model_type": "llama", "hidden_size": 16, "vocab_size": 40}},
         "has in its text_config no num_hidden_layers"),
        (SMALL | {"architectures": ["LlamaForCausalLMs"]}, "did you mean 'LlamaForCausalLM'"),
        (SMALL | {"architectures": ["GPT2LMHeadModel"]}, "no class of transformers for the type"),
    ],
)  # fmt: skip
def test_what_is_no_config_is_told(told: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=said) as raised:
        load_model(written(tmp_path, told))
    assert tmp_path.name in str(raised.value) and "\n" not in str(raised.value)


def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="need a folder with a config"):
        load_model(str(tmp_path))
    with pytest.raises(SpecError, match="did you mean 'llama-7b'"):
        load_model("Llama-7B")
    with pytest.raises(SpecError, match="LoRA's rank=4097: need at least 1, and at most the"):
        load_model("llama-7b").lora_params(4097)


def test_a_model_of_text_and_images_is_counted_whole(tmp_path: Path) -> None:
    told = {"model_type": "llava", "text_config": SMALL, "vision_config": VISION}
    model = load_model(written(tmp_path, told))
    text = load_model(written(tmp_path, SMALL))
    assert model.hidden == text.hidden == 16
    # Text with its head, a tower, and two layers with biases from its width to that of text.
    tower = load_model(written(tmp_path, VISION))
    assert model.num_params == text.num_params + tower.num_params + (8 + 1 + 16 + 1) * 16


@pytest.mark.parametrize(
    ("named", "num_params"),
    [("BartForConditionalGeneration", 406_291_456), ("BartForCausalLM", 254_084_096)],
)
def test_bart_large_is_the_class_that_its_config_names(
    named: str, num_params: int, tmp_path: Path
) -> None:
    """The whole model, whose decoder is a causal language model of its own."""
    told = {
        "model_type": "bart", "architectures": [named], "d_model": 1024, "encoder_layers": 12,
        "decoder_layers": 12, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
        "encoder_attention_heads": 16, "decoder_attention_heads": 16, "vocab_size": 50265,
        "num_hidden_layers": 12,
    }  # fmt: skip
    assert load_model(written(tmp_path, told)).num_params == num_params
