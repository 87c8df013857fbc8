"""Continuations of a padded batch against one prompt at a time, computed anew at each step."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from transformers import RepetitionPenaltyLogitsProcessor

from harness.errors import SpecError
from reproductions.lisa.models import generation
from reproductions.lisa.models.generation import Step, _penalised, continued, greedy
from reproductions.lisa.models.language_model import LanguageModel
from tests.reproductions.lisa.decoding_models import CONTEXT, Family, prompts, speaker

FAMILIES: tuple[Family, ...] = ("llama", "gpt2")


def plain(
    told: LanguageModel, prompt: Sequence[int], *, max_new_tokens: int, penalty: float = 1.0
) -> list[int]:
    """Return a greedy continuation without padding or cache."""
    ids, punish = list(prompt), RepetitionPenaltyLogitsProcessor(penalty)
    with torch.inference_mode():
        while len(ids) < min(CONTEXT, len(prompt) + max_new_tokens):
            batch = torch.tensor([ids])
            logits = told.model(batch, use_cache=False).logits[:, -1]
            token = int(punish(batch, logits).argmax())
            if token == told.eos:
                break
            ids.append(token)
    return ids[len(prompt) :]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_says_what_each_prompt_says_alone(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "BATCH_SIZE", 4)
    told, asked = speaker(family), prompts(10)
    found = greedy(told, asked, max_new_tokens=8)
    assert found == [plain(told, prompt, max_new_tokens=8) for prompt in asked]
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
    assert found == [plain(told, prompt, max_new_tokens=CONTEXT) for prompt in asked]


def test_seen_tokens_are_punished_as_transformers_does() -> None:
    told = speaker("llama")
    asked = prompts(8)

    def step(inputs: dict[str, object]) -> Step:
        found = told.model(**inputs)
        return Step(scores_BV=found.logits[:, -1], cache=found.past_key_values)

    found = continued(told, asked, max_new_tokens=12, step=step, repetition_penalty=1.5)
    assert found == [plain(told, p, max_new_tokens=12, penalty=1.5) for p in asked]
    assert found != greedy(told, asked, max_new_tokens=12)


def test_a_penalty_makes_seen_tokens_less_likely_whatever_the_sign() -> None:
    scores_BV = torch.tensor([[3.0, -3.0, 3.0, -3.0, 0.0]])
    seen_BV = torch.tensor([[True, True, False, False, True]])
    assert _penalised(scores_BV, seen_BV, 1.5).tolist() == [[2.0, -4.5, 3.0, -3.0, 0.0]]
    assert _penalised(scores_BV, seen_BV, 1.0) is scores_BV


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
    with pytest.raises(SpecError, match="at least one token"):
        greedy(told, [[5]], max_new_tokens=0)
    assert greedy(told, [], max_new_tokens=4) == []
