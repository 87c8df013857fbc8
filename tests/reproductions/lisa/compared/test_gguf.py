"""GGUF files made by hand: what is read of them, and what is refused."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from harness.commands.data import app
from harness.data import load as datasets
from harness.errors import DataError, SpecError
from reproductions.lisa.compared.gguf import read_gguf
from reproductions.lisa.compared.smollm import IN_BLOCK, load_smollm

WIDTH, FFN, HEADS, KV_HEADS = 32, 64, 2, 1
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *"0123456789", "a", "b", "ab", "\u0120"]
TOKENS += [f"unused{number}" for number in range(32 - len(TOKENS))]
FACTS: dict[str, Any] = {
    "general.architecture": "llama",
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
    "tokenizer.ggml.merges": ["a b"],
    "tokenizer.ggml.token_type": [3, 3, 3, *[1] * (len(TOKENS) - 3)],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
}
SIDES = {
    "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH // 2, WIDTH), "attn_v": (WIDTH // 2, WIDTH),
    "attn_output": (WIDTH, WIDTH), "ffn_gate": (FFN, WIDTH), "ffn_up": (FFN, WIDTH),
    "ffn_down": (WIDTH, FFN), "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,),
}  # fmt: skip
Packed = tuple[int, tuple[int, ...], bytes]
"""ggml's type, sides as torch has them, and bytes."""


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def fact(value: Any) -> bytes:
    match value:
        case str():
            return struct.pack("<I", 8) + text(value)
        case float():
            return struct.pack("<If", 6, value)
        case list():
            parts = [fact(one) for one in value]
            return (
                struct.pack("<I", 9)
                + parts[0][:4]
                + struct.pack("<Q", len(parts))
                + b"".join(part[4:] for part in parts)
            )
    return struct.pack("<II", 4, value)


def file_of(tensors: Mapping[str, Packed], facts: Mapping[str, Any], *, version: int = 3) -> bytes:
    head = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), len(facts))
    head += b"".join(text(name) + fact(value) for name, value in facts.items())
    body = b""
    for name, (kind, sides, content) in tensors.items():
        told = struct.pack(f"<I{len(sides)}QIQ", len(sides), *sides[::-1], kind, len(body))
        head += text(name) + told
        body += content + b"\0" * (-len(content) % 32)
    return head + b"\0" * (-len(head) % 32) + body


def plain(values: np.ndarray[Any, Any]) -> Packed:
    return 0, values.shape, values.astype("<f4").tobytes()


def weights() -> dict[str, np.ndarray[Any, Any]]:
    draw = np.random.default_rng(0)
    blocks = {f"blk.0.{name}.weight": draw.normal(size=sides) for name, sides in SIDES.items()}
    ends = {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    return blocks | {name: draw.normal(size=sides) for name, sides in ends.items()}


def small_model() -> bytes:
    return file_of({name: plain(value) for name, value in weights().items()}, FACTS)


def test_facts_and_packed_tensors_are_read() -> None:
    halves = np.array([0.5, -2.0], "<f2").tobytes()
    low, high = np.arange(16), np.arange(16)[::-1]
    tensors: dict[str, Packed] = {
        "four": (3, (1, 32), halves + (low | high << 4).astype(np.uint8).tobytes()),
        "eight": (8, (2, 16), halves[:2] + np.arange(-16, 16, dtype=np.int8).tobytes()),
    }
    found = read_gguf(file_of(tensors, {"a": "x", "b": 7, "c": 0.5, "d": ["p", "q"]}))
    assert found.facts == {"a": "x", "b": 7, "c": 0.5, "d": ["p", "q"]}
    assert found.tensors["four"].tolist() == [[*(0.5 * low - 2.0), *(0.5 * high - 2.0)]]
    assert found.tensors["eight"].ravel().tolist() == [0.5 * n for n in range(-16, 16)]


def test_other_formats_types_and_torn_files_are_refused() -> None:
    whole = small_model()
    for wrong in (b"GGML" + whole[4:], file_of({}, {}, version=2)):
        with pytest.raises(DataError, match="need GGUF of version 3"):
            read_gguf(wrong)
    for length in (60, len(whole) - 40):
        with pytest.raises(DataError, match="cut short"):
            read_gguf(whole[:length])
    with pytest.raises(DataError, match="type 2"):
        read_gguf(file_of({"w": (2, (32,), b"\0" * 18)}, {}))
    with pytest.raises(SpecError, match="SmolLM's tokenizer"):
        load_smollm(read_gguf(file_of({}, {**FACTS, "tokenizer.ggml.pre": "llama-bpe"})))


def test_a_model_has_the_file_s_weights_and_reads_digits_one_by_one() -> None:
    lm, made = load_smollm(read_gguf(small_model())), weights()
    state = lm.model.state_dict()
    for theirs, ours in IN_BLOCK.items():
        expected = torch.tensor(made[f"blk.0.{theirs}.weight"], dtype=torch.float32)
        if theirs in ("attn_q", "attn_k"):
            # ggml has rows 0, d/2, 1, d/2 + 1, ... of each head.
            heads = HEADS if theirs == "attn_q" else KV_HEADS
            parts = expected.view(heads, WIDTH // HEADS // 2, 2, WIDTH)
            expected = parts.transpose(1, 2).reshape(expected.shape)
        assert torch.equal(state[f"model.layers.0.{ours}.weight"], expected)
    assert lm.model.lm_head.weight is lm.model.model.embed_tokens.weight
    assert [lm.tokenizer.decode([token]) for token in lm.encode("ab12")] == ["ab", "1", "2"]
    assert (lm.bos, lm.eos) == (1, 2)
    # A text that spells out a special token is a text.
    assert lm.eos not in lm.encode("<|im_end|>")


@pytest.mark.net
def test_smollm2_answers() -> None:
    made = CliRunner().invoke(app, ["make", "smollm2_135m"])
    assert made.exit_code == 0, made.exception
    lm = load_smollm(read_gguf(datasets.load("smollm2_135m").value))
    asked = [lm.bos, *lm.encode("user\nWhat is the capital of France?"), lm.eos, *lm.encode("\n")]
    asked += [lm.bos, *lm.encode("assistant\n")]
    with torch.inference_mode():
        answer = lm.model.generate(
            torch.tensor([asked]), max_new_tokens=8, do_sample=False, pad_token_id=lm.eos
        )
    assert "Paris" in lm.tokenizer.decode(answer[0, len(asked) :])
