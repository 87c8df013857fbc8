"""A GPT under lm-eval: log-likelihoods against a plain sum, and tasks with known answers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from reproductions.nets.gpt import GPT
from reproductions.supar.downstream.byte_lm import accuracies, byte_lm
from reproductions.supar.downstream.lm_tasks import LOCAL, local_tasks
from reproductions.supar.models.training import Seeds, build_gpt
from tests.reproductions.supar import small
from tests.reproductions.supar.scored import HandMade, plain_log_likelihood

TABLE = small.table(density=0.25)
CONFIG = replace(small.config(TABLE), vocab_size=256, positions="alibi", context=64)
DOCUMENTS = {
    "arc_easy": [
        {"question": "What falls?", "choices": ["up", "rain", "sky"], "answer": 1},
        {"question": "What burns?", "choices": ["ice", "stone", "sea", "wood"], "answer": 3},
        {"question": "What floats?", "choices": ["cork", "lead", "iron", "gold"], "answer": 0},
    ],
    "lambada": [{"text": "she gave him the key"}, {"text": "he shut the door"}],
    "piqa": [{"goal": "boil water", "sol1": "freeze it", "sol2": "heat it", "answer": 1}],
    "boolq": [
        {"question": "is water wet?", "answer": True},
        {"question": "is fire cold?", "answer": False},
    ],
}
RIGHT = [
    "Question: What falls?\nAnswer: rain",
    "Question: What burns?\nAnswer: wood",
    "Question: What floats?\nAnswer: cork",
    "she gave him the key",
    "he shut the door",
    "Question: boil water\nAnswer: heat it",
    "Question: is water wet?\nAnswer: yes",
    "Question: is fire cold?\nAnswer: no",
]


@pytest.fixture
def net() -> GPT:
    return build_gpt(CONFIG, TABLE, Seeds(init=3, masks=4), mask_density=0.25).eval()


def request(*args: str) -> Any:
    return SimpleNamespace(args=args)


def test_log_likelihood_is_the_plain_sum_over_utf8_bytes(net: GPT) -> None:
    pairs = [("Question: why?\nAnswer:", " because"), ("Zoë", " naïve café"), ("x", "y")]
    found = byte_lm(net).loglikelihood([request(*pair) for pair in pairs])
    for (context, continuation), (total, _) in zip(pairs, found, strict=True):
        expected = plain_log_likelihood(net, context.encode(), continuation.encode())
        assert total == pytest.approx(expected, rel=1e-6)


def test_text_without_context_begins_after_a_newline(net: GPT) -> None:
    ((total, _),) = byte_lm(net).loglikelihood([request("", "word")])
    assert total == pytest.approx(plain_log_likelihood(net, b"\n", b"word"), rel=1e-6)
    (rolling,) = byte_lm(net).loglikelihood_rolling([request("word")])
    assert rolling == pytest.approx(total, rel=1e-6)


def rows_of(model: Any, *, num_documents: int | None = None) -> dict[str, Any]:
    rows = accuracies(byte_lm(model), local_tasks(DOCUMENTS), num_documents=num_documents)
    return {str(row["task"]): row for row in rows}


def test_net_that_knows_the_answers_is_always_right() -> None:
    rows = rows_of(HandMade(RIGHT))
    assert list(rows) == list(LOCAL)
    assert {name: row["accuracy"] for name, row in rows.items()} == dict.fromkeys(LOCAL, 1.0)


def test_net_that_knows_nothing_takes_the_shortest_and_of_equals_the_first() -> None:
    rows = rows_of(HandMade())
    # "up" and "sea" are shortest; "cork" is the first of four of one length.
    assert rows["arc_easy"]["accuracy"] == pytest.approx(1 / 3)
    assert rows["piqa"]["accuracy"] == 1.0
    # "no" is shorter than "yes".
    assert rows["boolq"]["accuracy"] == 0.5
    assert rows["lambada"]["accuracy"] == 0.0


def test_guessing_is_one_over_the_choices_of_each_document() -> None:
    guessing = {name: row["random_accuracy"] for name, row in rows_of(HandMade()).items()}
    arc = (1 / 3 + 1 / 4 + 1 / 4) / 3
    assert guessing == pytest.approx({"arc_easy": arc, "lambada": 0, "piqa": 0.5, "boolq": 0.5})
