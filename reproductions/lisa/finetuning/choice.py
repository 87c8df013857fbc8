"""Which of four answers goes with an instruction: an in-house measure of what was learned."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from reproductions.lisa.models.instructions import Example, batch_of
from reproductions.lisa.models.training import answer_nats

NUM_CHOICES = 4


def with_distractors(examples: Sequence[Example]) -> list[list[Example]]:
    """Return of each example its own answer, first, and those of the next three examples."""
    count = len(examples)
    return [
        [
            Example(prompt=one.prompt, answer=examples[(number + shift) % count].answer)
            for shift in range(NUM_CHOICES)
        ]
        for number, one in enumerate(examples)
    ]


def choice_accuracy(model: nn.Module, examples: Sequence[Example], *, padding: int) -> float:
    """Return how often an example's own answer is the likeliest of four, per token.

    Guessing scores 1 / 4. The likelihood is divided by the number of tokens, as answers differ in
    length.
    """
    num_right = 0
    for choices in with_distractors(examples):
        nats, counts = answer_nats(model, batch_of(choices, padding=padding))
        num_right += int((nats / counts).argmin()) == 0
    return num_right / len(examples)
