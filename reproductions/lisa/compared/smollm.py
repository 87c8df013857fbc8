"""SmolLM2-135M-Instruct from its GGUF file, in transformers' form and in float32.

ggml's llama turns neighbouring coordinates of a head by one angle, as llama2.c's does, so rows of
the query and key matrices are put back in transformers' order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from harness.errors import SpecError
from reproductions.lisa.compared.gguf import GgufFile
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.stories import halves_from_pairs

CONTROL = 3
"""ggml's type of a token that no text spells."""
IN_BLOCK = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_up": "mlp.up_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def load_smollm(file: GgufFile) -> LanguageModel:
    """Return the model, in evaluation mode, with its tokenizer.

    Raises SpecError for another architecture, or tensors that are not those of its sizes.
    """
    facts = file.facts
    kinds = facts.get("general.architecture"), facts.get("tokenizer.ggml.pre")
    if kinds != ("llama", "smollm"):
        raise SpecError(f"need a llama with SmolLM's tokenizer, found {kinds}")
    # transformers draws a new model's weights from the global generator.
    with torch.random.fork_rng():
        model = LlamaForCausalLM(_config_of(facts))
    try:
        model.load_state_dict(dict(_renamed(file)))
    except (RuntimeError, KeyError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise SpecError(f"the tensors are of another architecture: {reason}") from error
    return LanguageModel(model=model.eval(), tokenizer=_tokenizer_of(facts))


def _config_of(facts: Mapping[str, Any]) -> LlamaConfig:
    def of(name: str) -> Any:
        return facts[f"llama.{name}"]

    return LlamaConfig(
        vocab_size=of("vocab_size"),
        hidden_size=of("embedding_length"),
        intermediate_size=of("feed_forward_length"),
        num_hidden_layers=of("block_count"),
        num_attention_heads=of("attention.head_count"),
        num_key_value_heads=of("attention.head_count_kv"),
        max_position_embeddings=of("context_length"),
        rms_norm_eps=of("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": of("rope.freq_base")},
        tie_word_embeddings=True,
        bos_token_id=facts["tokenizer.ggml.bos_token_id"],
        eos_token_id=facts["tokenizer.ggml.eos_token_id"],
    )


def _renamed(file: GgufFile) -> Iterator[tuple[str, Tensor]]:
    """Yield the model's state by transformers' names. Raises KeyError for a missing tensor."""
    tensors = file.tensors
    yield "model.norm.weight", torch.from_numpy(tensors["output_norm.weight"])
    embedding = torch.from_numpy(tensors["token_embd.weight"])
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        yield name, embedding
    heads = {
        "attn_q": file.facts["llama.attention.head_count"],
        "attn_k": file.facts["llama.attention.head_count_kv"],
    }
    for block in range(file.facts["llama.block_count"]):
        for theirs, ours in IN_BLOCK.items():
            weight = torch.from_numpy(tensors[f"blk.{block}.{theirs}.weight"])
            if theirs in heads:
                weight = halves_from_pairs(weight, num_heads=heads[theirs])
            yield f"model.layers.{block}.{ours}.weight", weight


def _tokenizer_of(facts: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """Return byte-level BPE that splits off every digit, as SmolLM's."""
    tokens: list[str] = facts["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ", 1)) for pair in facts["tokenizer.ggml.merges"]]
    backend = Tokenizer(
        BPE(vocab={text: index for index, text in enumerate(tokens)}, merges=merges)
    )
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    kinds = facts["tokenizer.ggml.token_type"]
    backend.add_special_tokens(
        [AddedToken(t, special=True) for t, kind in zip(tokens, kinds, strict=True)
         if kind == CONTROL]
    )  # fmt: skip
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=tokens[facts["tokenizer.ggml.bos_token_id"]],
        eos_token=tokens[facts["tokenizer.ggml.eos_token_id"]],
        # A text that spells out a special token is a text.
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
    )
