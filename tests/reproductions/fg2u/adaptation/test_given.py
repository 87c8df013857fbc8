"""Models handed in by a path: the paper's trials on a tiny one, and clear words for what lacks."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.errors import DataError
from reproductions.fg2u.adaptation import given_trial
from reproductions.fg2u.adaptation.given_experiment import (
    Given,
    given,
)
from reproductions.fg2u.adaptation.given_trial import given_rows
from reproductions.fg2u.models.given_lm import NOT_GIVEN, given_model, given_path, given_records
from tests.reproductions.fg2u.trials import BareContext

TEXT = "and the town of anna is rome in paris question : answer what ? jim bob <end>"
WORDS = re.findall(r"\S+", TEXT)
LINES = [
    {
        "part": part,
        "text": f"and the town of {name} is {town} in the town of {name} {town}",
        "qas": [{"question": f"what is the town of {name} ?", "answer": town}],
    }
    for part in ("known", "meta", "validation", "test")
    for name, town in (("anna", "rome"), ("jim", "paris"), ("bob", "rome")) * 2
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Save a GPT-2 of two blocks with a tokenizer of few words, and a stream."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokens = {word: number for number, word in enumerate(dict.fromkeys(["<pad>", *WORDS]))}
    inner = Tokenizer(models.WordLevel(tokens, unk_token="<pad>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>")
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=16, n_layer=2, n_head=2, n_positions=32,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    place = tmp_path_factory.mktemp("models")
    model.save_pretrained(place / "distilgpt2")
    tokenizer.save_pretrained(place / "distilgpt2")
    (place / "streamingqa.jsonl").write_text("\n".join(map(json.dumps, LINES)))
    return str(place)


@pytest.fixture(autouse=True)
def few_step_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers choose among two."""
    monkeypatch.setattr(given_trial, "STREAM_LRS", given_trial.STREAM_LRS[-2:])


def point_of(folder: str, method: Any, *, whole: bool) -> Given:
    found = given("paper", "streamingqa", method, "small", 3 if method == "fg2u" else 6, seed=0)
    return replace(
        found, checkpoint=folder, window=31, weight_model="whole" if whole else "layer",
        steps=1, lr=1e-3,
        num_directions=2 if method == "fg2u" else 0, accumulate=1, first_accumulate=1,
        second_steps=1 if method == "fg2u" else 0, readers="small=distilgpt2",
    )  # fmt: skip


def test_rgu_goes_on_from_its_own_result(folder: str) -> None:
    params = point_of(folder, "rgu", whole=False)
    # Below the last digit of every weight.
    still = replace(params, phase=2, second_steps=1, second_lr=1e-30)
    once, stayed = (given_rows(each, BareContext()) for each in (params, still))
    assert [row["weighing"] for row in (*once, *stayed)] == ["equal", "learned", "learned"]
    assert stayed[0]["qa_loss_after"] == once[-1]["qa_loss_after"] != once[0]["qa_loss_after"]


def test_a_model_handed_in_goes_the_whole_way(folder: str) -> None:
    rows = given_rows(point_of(folder, "fg2u", whole=True), BareContext())
    assert [row["weighing"] for row in rows] == ["learned"]
    assert 0.0 < rows[0]["qa_loss_after"] < rows[0]["qa_loss_before"]
    assert rows[0]["peak_bytes"] > 0


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda folder: given_path(NOT_GIVEN, "gpt2"), "no gpt2: put the models .* --set checkp"),
        (lambda folder: given_model(folder, "gpt2-xl", "cpu"), "no gpt2-xl"),
    ],
)
def test_what_is_not_handed_in_is_named(tmp_path: Path, ask: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        ask(str(tmp_path))


@pytest.mark.parametrize("line", ["{", '{"part": "exam", "text": "a", "qas": []}'])
def test_a_line_that_is_no_document_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "streamingqa.jsonl").write_text(json.dumps(LINES[0]) + "\n" + line)
    with pytest.raises(DataError, match=r"streamingqa.jsonl, line 2: need an object with part"):
        given_records(str(tmp_path), "streamingqa")
