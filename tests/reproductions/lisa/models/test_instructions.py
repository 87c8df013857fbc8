"""Instructions as examples: what is kept, how it is split, where the loss is, what is chosen."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from harness.data.load import load as load_data
from reproductions.lisa.finetuning.trial import choice_accuracy, with_distractors
from reproductions.lisa.models.instructions import (
    Example,
    Record,
    batches,
    load_instructions,
    prompt_of,
)
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.training import IGNORED
from tests.reproductions.lisa.models.test_training import fresh
from tests.reproductions.lisa.small import llama

TEXT = load_data("grammar-text").text[:60_000]
SENTENCES = [part for part in TEXT.replace("\n", " ").split(". ") if part]
RECORDS: list[Record] = [
    {"instruction": one, "input": "now" if number % 3 == 0 else "", "output": other}
    for number, (one, other) in enumerate(pairwise(SENTENCES))
]
SIZES = {"max_tokens": 64, "num_train": 40, "num_held_out": 4}


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    return fresh()


def test_examples_are_whole_and_short_and_in_one_split_alone(lm: LanguageModel) -> None:
    found = load_instructions(RECORDS, lm, **SIZES)
    assert (len(found.train), len(found.validation), len(found.test)) == (40, 4, 4)
    every = [*found.train, *found.validation, *found.test]
    assert len({one.prompt for one in every}) == len(every)
    texts = {f"{prompt_of(record)} {record['output']}" for record in RECORDS}
    for one in every:
        assert len(one.prompt) + len(one.answer) <= 64
        assert (one.prompt[0], one.answer[-1]) == (lm.bos, lm.eos)
        whole = lm.tokenizer.decode([*one.prompt[1:], *one.answer[:-1]])
        assert whole in texts
        assert lm.tokenizer.decode(one.prompt[1:]).endswith("Response:")


def test_splits_do_not_depend_on_order_or_on_copies(lm: LanguageModel) -> None:
    found = load_instructions(RECORDS, lm, **SIZES)
    again = load_instructions([*RECORDS[::-1], *RECORDS], lm, **SIZES)
    assert {one.prompt for one in found.train} == {one.prompt for one in again.train}
    assert [one.prompt for one in found.test] == [one.prompt for one in again.test]


def test_held_out_examples_are_the_same_however_many_are_trained_on(lm: LanguageModel) -> None:
    few, more = (load_instructions(RECORDS, lm, **{**SIZES, "num_train": n}) for n in (8, 40))
    assert (few.validation, few.test) == (more.validation, more.test)
    assert few.train == more.train[:8]


def test_batches_are_of_the_seed_and_see_all_before_any_comes_back() -> None:
    examples = [Example(prompt=(0, n), answer=(1,)) for n in range(6)]

    def drawn(seed: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        parts = batches(examples, batch_size=2, num_steps=5, padding=1, generator=generator)
        return [int(row[1]) for part in parts for row in part.ids_BT]

    assert sorted(drawn(0)[:6]) == list(range(6))
    assert len(drawn(0)) == 10
    assert drawn(0) == drawn(0) != drawn(1)


def test_choice_is_the_likeliest_answer_a_token() -> None:
    model = llama().double()
    generator = torch.Generator().manual_seed(0)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(torch.randint(2, 48, (count,), generator=generator).tolist())

    examples = [Example(prompt=tokens(3), answer=tokens(2 + n % 3)) for n in range(12)]
    right = 0
    for choices in with_distractors(examples):
        losses = []
        for one in choices:
            ids = torch.tensor([[*one.prompt, *one.answer]])
            labels = ids.clone()
            labels[0, : len(one.prompt)] = IGNORED
            losses.append(float(model(input_ids=ids, labels=labels).loss))
        right += losses.index(min(losses)) == 0
    assert 0 < right < 12
    assert choice_accuracy(model, examples, padding=1) == right / 12
