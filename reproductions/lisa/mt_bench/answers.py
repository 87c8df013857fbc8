"""MT-Bench: its questions, and how a model answers them in two turns.

Source: arXiv 2306.05685, section 2.2 and appendix; questions, reference answers and temperatures
are those of FastChat's `llm_judge`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.lisa.models.generation import Scores, greedy, last_logits
from reproductions.lisa.models.instructions import prompt_of
from reproductions.lisa.models.language_model import LanguageModel

TEMPERATURES = {
    "writing": 0.7,
    "roleplay": 0.7,
    "reasoning": 0.0,
    "math": 0.0,
    "coding": 0.0,
    "extraction": 0.0,
    "stem": 0.1,
    "humanities": 0.1,
}
"""By category; 0 takes the most probable token each time."""
WITH_REFERENCE = ("math", "reasoning", "coding")
"""Categories whose answers are judged beside a reference answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Two turns of a user, the second one after the answer to the first."""

    id: int
    category: str
    turns: tuple[str, ...]
    references: tuple[str, ...] = ()
    """An answer to each turn, in the categories that have them."""


MADE_UP = (
    Question(id=1, category="writing", turns=("Write a line about rain.", "Make it shorter.")),
    Question(
        id=2,
        category="math",
        turns=("What is two and three?", "And one more?"),
        references=("Five.", "Six."),
    ),
    Question(id=3, category="stem", turns=("Why is ice slippery?", "And is snow?")),
)
"""Ours, of each temperature one: they show the path where MT-Bench's own are not at hand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a model said in one turn."""

    text: str
    num_tokens: int
    num_cut: int
    """Tokens of the conversation that were left out at its start, to make room for the answer."""


def read_questions(
    records: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]
) -> list[Question]:
    """Return MT-Bench's questions in their order, with GPT-4's answers where these are judged by.

    records, references: as FastChat publishes them.
    """
    answers = {one["question_id"]: tuple(one["choices"][0]["turns"]) for one in references}
    questions = []
    for record in records:
        number, category = int(record["question_id"]), str(record["category"])
        judged_by = answers.get(number, ()) if category in WITH_REFERENCE else ()
        turns = tuple(record["turns"])
        questions.append(Question(id=number, category=category, turns=turns, references=judged_by))
    return questions


def answer(
    lm: LanguageModel, question: Question, *, max_new_tokens: int, seed_of: Callable[[str], int]
) -> list[Answer]:
    """Return a model's answers to both turns, at the temperature of the question's category.

    seed_of: from the name of a random stream to its seed. Every turn has a stream of its own, so
    that its answer does not depend on which questions come before.
    A conversation longer than the context without `max_new_tokens` loses its start.
    Raises SpecError where that leaves no room for a conversation.
    """
    temperature = TEMPERATURES[question.category]
    room = lm.context - max_new_tokens
    if room < 2:
        raise SpecError(
            f"max_new_tokens={max_new_tokens}: a context of {lm.context} leaves no room for a"
            " question"
        )
    conversation: list[int] = []
    answers = []
    for number, turn in enumerate(question.turns):
        prompt = prompt_of({"instruction": turn, "input": ""})
        conversation += lm.encode(f" {prompt}" if number else prompt)
        kept = conversation[-(room - 1) :]
        generator = torch.Generator().manual_seed(seed_of(f"answer {question.id} {number}"))
        (tokens,) = greedy(
            lm, [[lm.bos, *kept]], max_new_tokens=max_new_tokens,
            scores=sampled(temperature=temperature, generator=generator),
        )  # fmt: skip
        conversation += tokens
        answers.append(
            Answer(
                text=str(lm.tokenizer.decode(tokens)).strip(),
                num_tokens=len(tokens),
                num_cut=len(conversation) - len(tokens) - len(kept),
            )
        )
    return answers


def sampled(*, temperature: float, generator: torch.Generator) -> Scores:
    """Return scores whose highest one is a sample of the model's softmax at a temperature.

    Logits over the temperature plus noise of Gumbel's distribution have their maximum at a token
    with just that token's probability; so what takes maxima draws samples.
    """

    def scores(found: Any) -> Tensor:
        scores_BV = last_logits(found).double()
        uniform_BV = torch.rand(scores_BV.shape, generator=generator, dtype=torch.float64)
        # The generator gives 0 too, once in 2^53.
        noise_BV = -torch.log(-torch.log(uniform_BV.clamp_min(1e-300)))
        return scores_BV / temperature + noise_BV.to(scores_BV.device)

    return scores if temperature else last_logits
