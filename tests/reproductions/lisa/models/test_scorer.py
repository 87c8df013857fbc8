"""Accuracies without lm-eval: log-likelihoods against a plain sum, and questions put by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from reproductions.lisa.models.benchmarks import scorer
from reproductions.lisa.models.benchmarks.scorer import (
    QUESTIONS,
    accuracies,
    choice_accuracy,
    log_likelihoods,
)
from reproductions.lisa.models.language_model import LanguageModel
from tests.reproductions.lisa.benchmark_models import documents, examinee

LONG = "The castle sells some clever clocks beside every dog, and many forests follow them. " * 9
PAIRS = [
    ("Question: who laughs?\nAnswer:", " the little baker"),
    ("Question: who laughs?\nAnswer:", " nobody"),
    ("Zo\u00eb likes a na\u00efve", " caf\u00e9"),
    ("a text with a blank at its end ", "and so on"),
    ("", "without a context"),
    (LONG, " in this river"),
    ("Does she return? ", LONG),
]


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    return examinee()


@torch.no_grad()
def plain(lm: LanguageModel, context: Sequence[int], continuation: Sequence[int]) -> float:
    """Sum log-probabilities in float64, a token at a time, each after the start and all that fits.

    What fits is decided once, for the whole: the last tokens of context and continuation.
    """
    whole = [*context, *continuation]
    read = whole[:-1][-(lm.context - 1) :]
    first = max(len(context), len(whole) - lm.context)
    total = 0.0
    model = lm.model.double()
    for place in range(first, len(whole)):
        history = [lm.bos, *read[: len(read) - (len(whole) - 1 - place)]]
        total += float(model(torch.tensor([history])).logits[0, -1].log_softmax(0)[whole[place]])
    model.float()
    return total


def test_log_likelihood_is_the_plain_sum_with_the_start_before_what_fits(
    lm: LanguageModel,
) -> None:
    found = log_likelihoods(lm, PAIRS)
    for (context, continuation), value in zip(PAIRS, found, strict=True):
        start = lm.encode(context.rstrip())
        rest = lm.encode(context + continuation)[len(start) :]
        assert value == pytest.approx(plain(lm, start, rest), rel=1e-5), context[:20]


def test_likeliest_choice_counts(lm: LanguageModel) -> None:
    ask = QUESTIONS["mmlu"]
    questions = [ask(document) for document in documents()["mmlu"]]
    favourites = []
    for question in questions:
        found = log_likelihoods(lm, question.pairs)
        favourites.append(max(range(4), key=found.__getitem__))
    assert len(set(favourites)) > 1
    right = [replace(q, answer=f) for q, f in zip(questions, favourites, strict=True)]
    wrong = [replace(q, answer=(f + 1) % 4) for q, f in zip(questions, favourites, strict=True)]
    assert choice_accuracy(lm, right) == 1.0
    assert choice_accuracy(lm, wrong) == 0.0
    assert choice_accuracy(lm, [*right, *wrong, *wrong]) == pytest.approx(1 / 3)


def test_written_number_counts_as_each_filter_finds_it(
    lm: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {
        " 3 + 4 = 7\n#### 7 birds": "#### 7",
        " about 12.": "#### 12",
        " 5\nQuestion: 9?": "#### 5",
        " none": "#### 5",
        "</s>#### 1": "#### 1",
    }
    tokens = [lm.encode(response) for response in said]
    monkeypatch.setattr(scorer, "greedy", lambda *_, **__: tokens)
    asked = [{"question": "How many?", "answer": answer} for answer in said.values()]
    assert accuracies(lm, "gsm8k", asked) == {"strict-match": 1 / 5, "flexible-extract": 3 / 5}
