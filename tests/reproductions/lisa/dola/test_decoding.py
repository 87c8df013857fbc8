"""DoLa against its formulas, with a model cut short for each exit and no cache."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from harness.errors import SpecError
from reproductions.lisa.dola.decoding import contrast, divergence, dola, exit_logits
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.language_model import LanguageModel
from tests.reproductions.lisa.decoding_models import CONTEXT, Family, prompts, speaker

EXITS: dict[Family, tuple[int, ...]] = {"llama": (0, 1, 2, 4), "gpt2": (0, 1, 2, 3)}
FAMILIES: tuple[Family, ...] = ("llama", "gpt2")


def cut(told: LanguageModel, num_blocks: int) -> torch.nn.Module:
    """Return the model without its later blocks: its output is that exit's."""
    model = copy.deepcopy(told.model)
    name = "layers" if hasattr(model.base_model, "layers") else "h"
    setattr(model.base_model, name, getattr(model.base_model, name)[:num_blocks])
    model.config.num_hidden_layers = num_blocks
    return model


def probabilities(model: torch.nn.Module, ids: Sequence[int]) -> np.ndarray:
    with torch.inference_mode():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0, -1].numpy()
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def plain_scores(
    models: Sequence[torch.nn.Module], ids: Sequence[int], *, alpha: float
) -> tuple[np.ndarray, int]:
    """Return the scores of the next token, and the exit, from probabilities one by one."""
    *exits, last = (probabilities(model, ids) for model in models)
    chosen = int(np.argmax([jensenshannon(last, q) ** 2 for q in exits]))
    scores = [
        math.log(p / q) if p >= alpha * last.max() else -math.inf
        for p, q in zip(last, exits[chosen], strict=True)
    ]
    return np.array(scores), chosen


@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_s_scores_are_those_of_the_formulas(family: Family) -> None:
    told, taken = speaker(family), set()
    models = {number: cut(told, number) for number in EXITS[family]}
    for exits in (EXITS[family], EXITS[family][1:]):
        for prompt in prompts(6):
            wanted, chosen = plain_scores([models[n] for n in exits], prompt, alpha=0.1)
            with torch.inference_mode():
                out = told.model(torch.tensor([prompt]), output_hidden_states=True)
                hidden = torch.stack([out.hidden_states[n][:, -1] for n in exits[:-1]])
                found = contrast(out.logits[:, -1], exit_logits(told.model, hidden), alpha=0.1)
            np.testing.assert_allclose(found[0].numpy(), wanted, rtol=1e-9, atol=1e-9)
            taken.add(exits[chosen])
    assert len(taken) == 3


def plain_answer(
    models: Sequence[torch.nn.Module], prompt: Sequence[int], *, most: int, end: int
) -> list[int]:
    """Return up to `most` tokens, each the best by the formulas."""
    ids = list(prompt)
    while len(ids) < min(CONTEXT, len(prompt) + most):
        scores, _ = plain_scores(models, ids, alpha=0.1)
        if scores.argmax() == end:
            break
        ids.append(int(scores.argmax()))
    return ids[len(prompt) :]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_says_what_the_formulas_say_of_each_prompt(family: Family) -> None:
    told, asked = speaker(family), prompts(6)
    models = [cut(told, number) for number in EXITS[family]]
    found = dola(told, asked, max_new_tokens=6, exits=EXITS[family])
    assert found == [plain_answer(models, prompt, most=6, end=told.eos) for prompt in asked]
    assert found != greedy(told, asked, max_new_tokens=6)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_exit_is_after_as_many_blocks_as_its_number_says(family: Family) -> None:
    """With one candidate nothing is chosen, so that each exit shows; no two say the same."""
    told, asked = speaker(family), prompts(6)
    *numbers, last = EXITS[family]
    whole, seen = cut(told, last), []
    for number in numbers:
        models = [cut(told, number), whole]
        seen.append(dola(told, asked, max_new_tokens=4, exits=(number, last)))
        assert seen[-1] == [plain_answer(models, each, most=4, end=told.eos) for each in asked]
    assert all(one != other for one, other in combinations(seen, 2))


def test_the_whole_model_is_no_candidate() -> None:
    """Contrasted with itself, all plausible tokens would be equal, and the first be taken."""
    last_BV = torch.tensor([[0.0, 2.0, 3.0, 1.5]], dtype=torch.float64)
    against_itself = contrast(last_BV, last_BV[None], alpha=0.3)
    assert against_itself.tolist() == [[-math.inf, 0.0, 0.0, -math.inf]]
    assert int(against_itself.argmax()) == 1
    told, asked = speaker("llama"), prompts(6)
    assert dola(told, asked, max_new_tokens=8, exits=(4,)) == greedy(told, asked, max_new_tokens=8)


def test_divergence_is_scipy_s_and_within_its_bounds() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 5, 7, generator=generator, dtype=torch.float64) * 3
    log_p, log_q = logits.log_softmax(-1)
    found = divergence(log_p, log_q)
    wanted = jensenshannon(log_p.exp().numpy(), log_q.exp().numpy(), axis=-1) ** 2
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-9)
    assert divergence(log_p, log_p).abs().max() < 1e-15
    apart = torch.tensor([[0.0, -800.0], [-800.0, 0.0]]).double().log_softmax(-1)
    assert float(divergence(apart[0], apart[1])) == pytest.approx(math.log(2))


def test_what_cannot_be_an_exit_is_refused() -> None:
    told = speaker("llama")
    for exits in ((0, 2), (2, 0, 4)):
        with pytest.raises(SpecError, match=r"exits=.*the last one 4"):
            dola(told, [[5]], max_new_tokens=1, exits=exits)
    with pytest.raises(SpecError, match="alpha=0"):
        dola(told, [[5]], max_new_tokens=1, exits=(0, 4), alpha=0.0)
