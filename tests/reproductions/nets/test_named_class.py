"""The class that a config names, where several fit its type."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import CONFIG_MAPPING

from harness.errors import SpecError
from reproductions.nets.named_class import causal_lm_of, class_of


def config_of(kind: str, *named: str) -> Any:
    return CONFIG_MAPPING[kind](architectures=[*named])


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("bart", "BartForConditionalGeneration"),
        ("bart", "BartForCausalLM"),
        ("t5", "T5EncoderModel"),
        ("vit", "ViTForImageClassification"),
        ("clip", "CLIPModel"),
        ("bert", "BertForMaskedLM"),
        ("llama", "LlamaForSequenceClassification"),
        ("whisper", "WhisperForConditionalGeneration"),
    ],
)
def test_a_config_stands_for_the_class_that_it_names(kind: str, named: str) -> None:
    assert class_of(config_of(kind, named)).__name__ == named


@pytest.mark.parametrize(
    ("kind", "only"),
    [
        ("llama", "LlamaForCausalLM"),
        ("t5", "T5ForConditionalGeneration"),
        ("llava", "LlavaForConditionalGeneration"),
        ("clip_vision_model", "CLIPVisionModel"),
    ],
)
def test_one_that_names_none_is_its_type_s_only_language_model(kind: str, only: str) -> None:
    assert class_of(config_of(kind)).__name__ == only


@pytest.mark.parametrize(
    ("kind", "named", "said"),
    [
        ("llama", ["LLaMAForCausalLM"], "no class of transformers.*did you mean 'LlamaForCausalLM"),
        ("llama", ["GPT2LMHeadModel"], "'GPT2LMHeadModel', which is no class .* type 'llama'"),
        ("llama", ["LlamaConfig"], "no class of transformers"),
        ("llama", ["PreTrainedModel"], "no class of transformers"),
        ("llama", ["AutoModel"], "no class of transformers"),
        ("llama", ["MyModel"], "no class of transformers"),
        ("llama", ["LlamaModel", "LlamaForCausalLM"], "more than one.* LlamaModel and Llama"),
        ("bart", [], "names no class .* BartForCausalLM and BartForConditionalGeneration"),
        ("bert", [], "names no class .* BertLMHeadModel and BertForMaskedLM"),
    ],
)
def test_what_names_no_one_class_is_refused(kind: str, named: list[str], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        class_of(config_of(kind, *named))


@pytest.mark.parametrize("said", [3, "LlamaForCausalLM", [3]])
def test_a_name_that_is_no_list_of_names_is_refused(said: Any) -> None:
    config = config_of("llama")
    config.architectures = said
    with pytest.raises(SpecError, match="need a list of one class's name"):
        class_of(config)


def test_a_decoder_is_no_stand_in_for_the_model_around_it() -> None:
    assert causal_lm_of(config_of("llama", "LlamaForCausalLM")).__name__ == "LlamaForCausalLM"
    assert causal_lm_of(config_of("bart", "BartForCausalLM")).__name__ == "BartForCausalLM"
    for kind, named in [("bart", "BartForConditionalGeneration"), ("vit", "ViTModel")]:
        with pytest.raises(SpecError, match=f"{named}, .* no causal language model"):
            causal_lm_of(config_of(kind, named))
