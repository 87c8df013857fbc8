"""Continuations of a padded batch against one prompt at a time, computed anew at each step."""

from __future__ import annotations

import pytest
import torch

from harness.errors import SpecError
from reproductions.lisa.models import generation
from reproductions.lisa.models.generation import greedy
from tests.reproductions.lisa.decoding_models import CONTEXT, Family, plain_greedy, prompts, speaker

FAMILIES: tuple[Family, ...] = ("llama", "gpt2")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_says_what_each_prompt_says_alone(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "BATCH_SIZE", 4)
    told, asked = speaker(family), prompts(10)
    found = greedy(told, asked, max_new_tokens=8)
    assert found == [plain_greedy(told, prompt, most=8) for prompt in asked]
    # Some ended themselves and some did not, and the texts are not all one.
    assert {len(answer) < 8 for answer in found} == {True, False}
    assert len({tuple(answer) for answer in found}) > 6


@pytest.mark.parametrize("family", FAMILIES)
def test_a_full_context_ends_a_text(family: Family) -> None:
    told = speaker(family)
    # It never says the end.
    with torch.no_grad():
        told.model.get_output_embeddings().weight[told.eos] = 0.0
    asked = [[5] * (CONTEXT - 1), [5] * 20, [5]]
    found = greedy(told, asked, max_new_tokens=CONTEXT)
    assert [len(answer) for answer in found] == [1, 12, CONTEXT - 1]
    assert found == [plain_greedy(told, prompt, most=CONTEXT) for prompt in asked]


def test_dropout_is_off_and_back_on() -> None:
    told = speaker("gpt2")
    expected = greedy(told, prompts(4), max_new_tokens=8)
    told.model.train()
    for module in told.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    assert greedy(told, prompts(4), max_new_tokens=8) == expected
    assert told.model.training


def test_prompts_without_room_are_refused() -> None:
    told = speaker("llama")
    for prompt in ([], [5] * CONTEXT):
        with pytest.raises(SpecError, match=f"prompt 1 has {len(prompt)} tokens"):
            greedy(told, [[5], prompt], max_new_tokens=4)
