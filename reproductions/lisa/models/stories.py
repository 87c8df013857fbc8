"""Small LLaMA models that others trained on stories, in transformers' form.

They come as tensors, sizes and scored pieces of llama2.c. Its rotary embedding turns neighbouring
coordinates (2i, 2i+1) of a head by one angle, transformers' turns i and i + d/2, so the rows of
the query and key matrices are put in another order, which leaves every product as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, normalizers
from tokenizers.models import BPE
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from harness.data.codec import Content
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.tokenizer import for_transformers

UNKNOWN, START, END = 0, 1, 2
META_SPACE = "\u2581"
IN_BLOCK = {
    "attention.wq": "self_attn.q_proj",
    "attention.wk": "self_attn.k_proj",
    "attention.wv": "self_attn.v_proj",
    "attention.wo": "self_attn.o_proj",
    "feed_forward.w1": "mlp.gate_proj",
    "feed_forward.w2": "mlp.down_proj",
    "feed_forward.w3": "mlp.up_proj",
    "attention_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def read_stories(name: str, dataset: Callable[[str], Content]) -> LanguageModel:
    """Return a model of `STAGED`, in evaluation mode, with its tokenizer.

    dataset: reads a data set, such as a run's `ctx.dataset`; beside the weights lie a `.config`,
    llama2.c's sizes, and a `.tokenizer`, text and score of each token.
    """
    config = dataset(f"{name}.config").value
    tensors = {key: torch.tensor(value) for key, value in dataset(name).arrays.items()}
    # transformers draws a new model's weights from the global generator.
    with torch.random.fork_rng():
        model = LlamaForCausalLM(_config_of(config))
    model.load_state_dict(dict(_renamed(tensors, config)))
    pieces = dataset(f"{name}.tokenizer").value["pieces"]
    return LanguageModel(model=model.eval(), tokenizer=tokenizer_of(pieces))


def tokenizer_of(pieces: Sequence[tuple[str, float]]) -> PreTrainedTokenizerFast:
    """Return a tokenizer that joins the adjacent pair whose joined text scores highest.

    A space is put in front of a text that is not empty, and taken away in decoding. Characters
    without a piece become bytes if there are pieces for bytes, else the unknown token.
    """
    ids = {text: index for index, (text, _) in enumerate(pieces)}
    has_bytes = "<0x00>" in ids
    unknown, start, end = (pieces[index][0] for index in (UNKNOWN, START, END))
    model = BPE(vocab=ids, merges=list(_merges(pieces)), unk_token=unknown, byte_fallback=has_bytes)
    backend = Tokenizer(model)
    steps: list[Any] = [normalizers.Prepend(" ")]
    undo: list[Any] = [decoders.ByteFallback()] if has_bytes else []
    if META_SPACE in ids:
        steps.append(normalizers.Replace(" ", META_SPACE))
        undo.append(decoders.Replace(META_SPACE, " "))
    backend.normalizer = normalizers.Sequence(steps)
    backend.decoder = decoders.Sequence([*undo, decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return for_transformers(backend, unk_token=unknown, bos_token=start, eos_token=end)


def _merges(pieces: Sequence[tuple[str, float]]) -> Iterator[tuple[str, str]]:
    """Yield every way to join two pieces into a third, the third's highest score first."""
    known = {text for text, _ in pieces}
    # Sorting is stable: of pieces of one score the first comes first.
    for text, _ in sorted(pieces[END + 1 :], key=lambda piece: -piece[1]):
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in known and right in known:
                yield left, right


def _config_of(config: Mapping[str, Any]) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=config["vocab_size"],
        hidden_size=config["dim"],
        intermediate_size=config["hidden_dim"],
        num_hidden_layers=config["n_layers"],
        num_attention_heads=config["n_heads"],
        num_key_value_heads=config["n_kv_heads"],
        max_position_embeddings=config["max_seq_len"],
        rms_norm_eps=config["norm_eps"],
        rope_parameters={"rope_type": "default", "rope_theta": config["rope_theta"]},
        tie_word_embeddings=True,
        bos_token_id=START,
        eos_token_id=END,
    )


def _renamed(
    tensors: Mapping[str, Tensor], config: Mapping[str, Any]
) -> Iterator[tuple[str, Tensor]]:
    """Yield the model's state by transformers' names."""
    yield "model.norm.weight", tensors["norm.weight"]
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        yield name, tensors["tok_embeddings.weight"]
    heads = {"attention.wq": config["n_heads"], "attention.wk": config["n_kv_heads"]}
    for block in range(config["n_layers"]):
        for theirs, ours in IN_BLOCK.items():
            weight = tensors[f"layers.{block}.{theirs}.weight"]
            if theirs in heads:
                weight = halves_from_pairs(weight, num_heads=heads[theirs])
            yield f"model.layers.{block}.{ours}.weight", weight


def halves_from_pairs(weight: Tensor, *, num_heads: int) -> Tensor:
    """Return rows 0, 2, 4, ... of each head, then its rows 1, 3, 5, ...; shape (rows, columns)."""
    rows, columns = weight.shape
    pairs = weight.view(num_heads, rows // num_heads // 2, 2, columns)
    return pairs.transpose(1, 2).reshape(rows, columns)
