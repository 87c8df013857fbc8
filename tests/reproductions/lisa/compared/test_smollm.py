"""SmolLM2's file: which weights and tokenizer are made of it, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import GGUFWriter
from typer.testing import CliRunner

from harness.commands.data import app
from harness.data import load as datasets
from reproductions.lisa.compared.smollm import load_smollm

WIDTH, FFN, HEADS, KV_HEADS = 32, 64, 2, 1
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *"0123456789", "a", "b", "ab"]
TOKENS += ["\u0120", "\u0120\u0120"]  # one space, and two
TOKENS += [f"unused{number}" for number in range(32 - len(TOKENS))]
FACTS: dict[str, Any] = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "llama.vocab_size": len(TOKENS),
    "llama.embedding_length": WIDTH,
    "llama.feed_forward_length": FFN,
    "llama.block_count": 1,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": KV_HEADS,
    "llama.context_length": 16,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10000.0,
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.merges": ["a b", "\u0120 \u0120"],
    "tokenizer.ggml.token_type": [3, 3, 3, *[1] * (len(TOKENS) - 3)],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
}
IN_BLOCK = {
    "attn_q": ("self_attn.q_proj", (WIDTH, WIDTH)),
    "attn_k": ("self_attn.k_proj", (WIDTH // 2, WIDTH)),
    "attn_v": ("self_attn.v_proj", (WIDTH // 2, WIDTH)),
    "attn_output": ("self_attn.o_proj", (WIDTH, WIDTH)),
    "ffn_gate": ("mlp.gate_proj", (FFN, WIDTH)),
    "ffn_up": ("mlp.up_proj", (FFN, WIDTH)),
    "ffn_down": ("mlp.down_proj", (WIDTH, FFN)),
    "attn_norm": ("input_layernorm", (WIDTH,)),
    "ffn_norm": ("post_attention_layernorm", (WIDTH,)),
}
"""By ggml's name transformers' name and the sides."""


def weights() -> dict[str, np.ndarray[Any, Any]]:
    sides = {f"blk.0.{name}.weight": sides for name, (_, sides) in IN_BLOCK.items()}
    sides |= {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    draw = np.random.default_rng(0)
    return {name: draw.normal(size=each).astype("f4") for name, each in sides.items()}


def small_model(folder: Path, **facts: str) -> Path:
    path = folder / "small.gguf"
    writer = GGUFWriter(path, "llama")
    for name, value in (FACTS | facts).items():
        add = {str: writer.add_string, int: writer.add_uint32, float: writer.add_float32}
        add.get(type(value), writer.add_array)(name, value)
    for name, tensor in weights().items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_model_has_the_file_s_weights_and_reads_digits_one_by_one(tmp_path: Path) -> None:
    before = torch.get_rng_state()
    lm, made = load_smollm(small_model(tmp_path)), weights()
    assert torch.equal(torch.get_rng_state(), before)
    state = lm.model.state_dict()
    for theirs, (ours, _) in IN_BLOCK.items():
        expected = torch.tensor(made[f"blk.0.{theirs}.weight"])
        if theirs in ("attn_q", "attn_k"):
            # ggml has rows 0, d/2, 1, d/2 + 1, ... of each head.
            heads = HEADS if theirs == "attn_q" else KV_HEADS
            parts = expected.view(heads, WIDTH // HEADS // 2, 2, WIDTH)
            expected = parts.transpose(1, 2).reshape(expected.shape)
        assert torch.equal(state[f"model.layers.0.{ours}.weight"], expected)
    assert lm.model.lm_head.weight is lm.model.model.embed_tokens.weight
    read = [lm.tokenizer.decode([token]) for token in lm.encode("ab12  3")]
    assert read == ["ab", "1", "2", "  ", "3"]
    assert (lm.bos, lm.eos) == (1, 2)
    # A text that spells out a special token is a text.
    assert lm.eos not in lm.encode("<|im_end|>")


@pytest.mark.net
def test_smollm2_answers() -> None:
    made = CliRunner().invoke(app, ["make", "smollm2_135m"])
    assert made.exit_code == 0, made.exception
    lm = load_smollm(datasets.path_of("smollm2_135m"))
    asked = [lm.bos, *lm.encode("user\nWhat is the capital of France?"), lm.eos, *lm.encode("\n")]
    asked += [lm.bos, *lm.encode("assistant\n")]
    with torch.inference_mode():
        answer = lm.model.generate(
            torch.tensor([asked]), max_new_tokens=8, do_sample=False, pad_token_id=lm.eos
        )
    assert "Paris" in lm.tokenizer.decode(answer[0, len(asked) :])
