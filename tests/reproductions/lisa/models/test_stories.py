"""Story models of others against plain arithmetic, and their tokenizers against the rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from harness.data import load as datasets
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.names import STAGED
from reproductions.lisa.models.stories import read_stories, tokenizer_of

Pieces = Sequence[tuple[str, float]]
OPENING = "Once upon a time, there was a little girl named Lily."
BYTES = [(f"<0x{byte:02X}>", 0.0) for byte in range(256)]
ENDS = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0)]
# Words overlap, so the order of joining shows: "abcb" is a bcb, not ab cb.
WORDS = [" ab", "bcb", "ab", "cb", "bc", " a", "aa", "aaa", "abab"]
LETTERS = [" ", "a", "b", "c", "\u00e9"]
SCORED = [(text, -float(rank)) for rank, text in enumerate([*WORDS, *LETTERS])]
WITH_BYTES = [*ENDS, *BYTES, *SCORED]
WITHOUT = [*ENDS, *((text.replace(" ", "\u2581"), score) for text, score in SCORED)]


def staged(name: str) -> Any:
    return datasets.load(name)


@pytest.fixture(scope="module", params=STAGED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def told(name: str) -> LanguageModel:
    return read_stories(name, staged)


# --- the models ---


@pytest.mark.data
def test_greedy_text_is_the_published_one(told: LanguageModel) -> None:
    (found,) = greedy(told, [[told.bos]], max_new_tokens=80)
    assert told.tokenizer.decode(found).startswith(OPENING)


@pytest.mark.data
def test_logits_are_those_of_plain_arithmetic(name: str, told: LanguageModel) -> None:
    config = staged(f"{name}.config").value
    ids = torch.tensor([told.bos, *told.encode('Tim saw a big red ball. He said, "Hi!"')])
    tensors = {key: torch.tensor(value).double() for key, value in staged(name).arrays.items()}
    wanted = forward(tensors, config, ids)
    with torch.inference_mode():
        found = told.model.double()(ids[None]).logits[0]
    told.model.float()
    # What transformers keeps in float32 (the angles' table) is all that differs.
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    assert told.context == config["max_seq_len"]


def forward(tensors: dict[str, Tensor], config: dict[str, Any], ids_T: Tensor) -> Tensor:
    """Return float64 logits, shape (T, vocabulary): llama2.c's formulas, one head at a time."""
    width = config["dim"] // config["n_heads"]
    group = config["n_heads"] // config["n_kv_heads"]
    rates = 10_000.0 ** (-torch.arange(0, width, 2).double() / width)
    turns = torch.polar(torch.ones(1).double(), torch.arange(len(ids_T)).double()[:, None] * rates)

    def norm(x: Tensor, weight: Tensor) -> Tensor:
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight

    def turned(x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.reshape(len(x), width // 2, 2))
        return torch.view_as_real(pairs * turns).reshape(len(x), width)

    x = tensors["tok_embeddings.weight"][ids_T]
    for block in range(config["n_layers"]):
        w = {k.split(".", 2)[2]: v for k, v in tensors.items() if k.startswith(f"layers.{block}.")}
        y = norm(x, w["attention_norm.weight"])
        heads = []
        for head in range(config["n_heads"]):
            rows = slice(head * width, (head + 1) * width)
            shared = slice(head // group * width, (head // group + 1) * width)
            q = turned(y @ w["attention.wq.weight"][rows].T)
            k = turned(y @ w["attention.wk.weight"][shared].T)
            seen = torch.ones(len(x), len(x)).tril().bool()
            scores = (q @ k.T / math.sqrt(width)).masked_fill(~seen, -math.inf)
            heads.append(scores.softmax(-1) @ (y @ w["attention.wv.weight"][shared].T))
        x = x + torch.cat(heads, -1) @ w["attention.wo.weight"].T
        y = norm(x, w["ffn_norm.weight"])
        gate = F.silu(y @ w["feed_forward.w1.weight"].T)
        x = x + gate * (y @ w["feed_forward.w3.weight"].T) @ w["feed_forward.w2.weight"].T
    return norm(x, tensors["norm.weight"]) @ tensors["tok_embeddings.weight"].T


# --- the tokenizers ---


@cache
def told_of(has_bytes: bool) -> PreTrainedTokenizerFast:
    return tokenizer_of(WITH_BYTES if has_bytes else WITHOUT)


def encoded(text: str, pieces: Pieces) -> list[int]:
    """Return the tokens of the rule, joined one pair at a time."""
    known = {piece: index for index, (piece, _) in enumerate(pieces)}
    space = "\u2581" if "\u2581" in known else " "
    parts: list[str] = []
    for character in (space + text.replace(" ", space)) if text else "":
        as_bytes = character not in known and "<0x00>" in known
        parts += [f"<0x{b:02X}>" for b in character.encode()] if as_bytes else [character]
    while True:
        pairs = [
            (pieces[known[left + right]][1], -place)
            for place, (left, right) in enumerate(pairwise(parts))
            if left + right in known
        ]
        if not pairs:
            return [known.get(part, 0) for part in parts]
        place = -max(pairs)[1]
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


@pytest.mark.parametrize("pieces", [WITH_BYTES, WITHOUT], ids=["bytes", "unknown"])
@settings(max_examples=20, deadline=None)
@given(text=st.one_of(st.text(alphabet=" abc\u00e9<>sunk/\n", max_size=30), st.text(max_size=12)))
def test_tokens_are_those_of_the_rule(pieces: Pieces, text: str) -> None:
    found = told_of(pieces is WITH_BYTES).encode(text, add_special_tokens=False)
    assert found == encoded(text, pieces)


@pytest.mark.data
def test_real_text_has_the_tokens_of_the_rule(name: str, told: LanguageModel) -> None:
    pieces = staged(f"{name}.tokenizer").value["pieces"]
    answers = [record["output"] for record in staged("alpaca_cleaned").records[:8]]
    for text in (OPENING, *(text[:300] for text in answers)):
        assert told.encode(text) == encoded(text, pieces)
