"""Greedy continuation of many prompts at once, with keys and values kept between steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.lisa.models.language_model import LanguageModel

BATCH_SIZE = 64
"""Prompts that are continued together; those of like length, so that little is padding."""


Scores = Callable[[Any], Tensor]
"""From what a model returns to the scores of the next token, shape (B, V); the highest is taken."""


def last_logits(found: Any) -> Tensor:
    """Return the logits of the last place, which take the most probable token."""
    logits: Tensor = found.logits[:, -1]
    return logits


def greedy(
    language_model: LanguageModel,
    prompts: Sequence[Sequence[int]],
    *,
    max_new_tokens: int,
    scores: Scores = last_logits,
    **asked: bool,
) -> list[list[int]]:
    """Return for each prompt the tokens of the highest scores, one after the other.

    prompts: tokens with the one for the start. A continuation ends before the end token, after
    `max_new_tokens`, or where the model's context is full. The answer is that of each prompt
    alone, up to rounding. asked: what else the model is to return.
    Raises SpecError for a prompt that is empty, or leaves no room in the context.
    """
    for index, prompt in enumerate(prompts):
        if not 0 < len(prompt) < language_model.context:
            raise SpecError(
                f"prompt {index} has {len(prompt)} tokens: need 1 to {language_model.context - 1},"
                " as something must come after it"
            )
    order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
    answers: dict[int, list[int]] = {}
    with torch.inference_mode(), _evaluating(language_model.model):
        for start in range(0, len(order), BATCH_SIZE):
            members = order[start : start + BATCH_SIZE]
            batch = _Batch(language_model, [prompts[index] for index in members])
            batch.extend(scores, max_new_tokens, asked)
            answers |= dict(zip(members, batch.new_tokens, strict=True))
    return [answers[index] for index in range(len(prompts))]


class _Batch:
    """Prompts with padding on the left, so that the next token of all is in the last place."""

    def __init__(self, language_model: LanguageModel, prompts: Sequence[Sequence[int]]) -> None:
        self._model = language_model.model
        self._context, self._end = language_model.context, language_model.eos
        device = language_model.model.device
        longest = max(map(len, prompts))
        padded = [[self._end] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
        self._ids_BT = torch.tensor(padded, device=device)
        self._lengths_B = torch.tensor([len(prompt) for prompt in prompts], device=device)
        places_T = torch.arange(longest, device=device)
        self._mask_BT = (places_T >= longest - self._lengths_B[:, None]).long()
        self.new_tokens: list[list[int]] = [[] for _ in prompts]

    def extend(self, scores: Scores, max_new_tokens: int, asked: dict[str, bool]) -> None:
        """Add tokens until every row has ended."""
        cache = None
        places_B = (self._context - self._lengths_B).clamp(max=max_new_tokens).tolist()
        going = [True] * len(places_B)
        while any(going):
            found: Any = self._model(**self._inputs(cache), logits_to_keep=1, **asked)
            cache = found.past_key_values
            chosen_B = scores(found).argmax(-1)
            for row, token in enumerate(chosen_B.tolist()):
                if going[row] and token != self._end:
                    self.new_tokens[row].append(token)
                    going[row] = len(self.new_tokens[row]) < places_B[row]
                else:
                    going[row] = False
            self._append(chosen_B)

    def _inputs(self, cache: Any) -> dict[str, Any]:
        """Return what the model has not seen yet, and where it is."""
        new = self._ids_BT.shape[1] if cache is None else 1
        # A row that has ended goes on with the others, past the context: nobody reads it.
        positions_BT = (self._mask_BT.cumsum(-1) - 1).clamp(0, self._context - 1)
        return {
            "input_ids": self._ids_BT[:, -new:],
            "attention_mask": self._mask_BT,
            "position_ids": positions_BT[:, -new:],
            "past_key_values": cache,
            "use_cache": True,
        }

    def _append(self, chosen_B: Tensor) -> None:
        column_B1 = chosen_B[:, None]
        self._ids_BT = torch.cat([self._ids_BT, column_B1], dim=1)
        self._mask_BT = torch.cat([self._mask_BT, torch.ones_like(column_B1)], dim=1)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout off, and back to what it was."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
