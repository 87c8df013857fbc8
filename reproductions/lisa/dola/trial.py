"""From language models and questions to rows: how many answers are right, greedily and by DoLa."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.declare.experiment import RawParams, Row
from reproductions.lisa.continual.trial import ROOM
from reproductions.lisa.dola.decoding import dola, quarter_exits
from reproductions.lisa.dola.gsm8k import asked, demonstrations, marked
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.solving import as_examples
from reproductions.lisa.models.word_problems import Filter, Problem, is_match, sample

WORD_PROBLEMS, GSM8K = "word_problems", "gsm8k"
Models = Mapping[str, LanguageModel]
"""By the word for their weights: `vanilla`, `lisa`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quiz:
    """Questions, and how they are put to a model."""

    name: str
    problems: Sequence[Problem]
    max_new_tokens: int
    prompts: Callable[[LanguageModel, Sequence[Problem]], list[tuple[int, ...]]]
    """Tokens with the start token."""
    read: Callable[[str], str]
    """From what a model says to an answer with the mark of its result."""


def word_problem_rows(models: Models, params: RawParams, *, seed: int) -> list[Row]:
    """Return rows on our own problems, the first ones of those that `continual` reports on."""
    quiz = Quiz(
        name=WORD_PROBLEMS,
        problems=sample("test", int(params["num_questions"]), seed=seed),
        max_new_tokens=int(params["max_new_tokens"]),
        prompts=_with_room,
        read=lambda said: said,
    )
    return [row for weights, lm in models.items() for row in dola_rows(lm, weights, quiz)]


def gsm8k_rows(
    models: Models, params: RawParams, records: Sequence[Mapping[str, str]]
) -> list[Row]:
    """Return rows on the first questions of GSM8K's test split, after eight solved ones."""
    shots = demonstrations()
    quiz = Quiz(
        name=GSM8K,
        problems=[asked(record, shots=shots) for record in records[: int(params["num_questions"])]],
        max_new_tokens=int(params["max_new_tokens"]),
        prompts=lambda lm, problems: [(lm.bos, *lm.encode(one.question)) for one in problems],
        read=marked,
    )
    return [row for weights, lm in models.items() for row in dola_rows(lm, weights, quiz)]


def dola_rows(lm: LanguageModel, weights: str, quiz: Quiz) -> list[Row]:
    """Return a row by greedy decoding and one by DoLa, with exits at quarters of the blocks."""
    prompts, most = quiz.prompts(lm, quiz.problems), quiz.max_new_tokens
    exits = quarter_exits(len(find_blocks(lm.model)))
    tokens = {
        "greedy": greedy(lm, prompts, max_new_tokens=most),
        "dola": dola(lm, prompts, max_new_tokens=most, exits=exits),
    }
    rows: list[Row] = []
    for decoding, found in tokens.items():
        said = [quiz.read(str(lm.tokenizer.decode(one))) for one in found]
        unlike = [one != other for one, other in zip(found, tokens["greedy"], strict=True)]
        rows.append(
            {
                "questions": quiz.name,
                "weights": weights,
                "decoding": decoding,
                "exits": " ".join(map(str, exits if decoding == "dola" else exits[-1:])),
                "accuracy": _share(said, quiz.problems, filter="strict"),
                "flexible_accuracy": _share(said, quiz.problems, filter="flexible"),
                "unlike_greedy": sum(unlike) / len(unlike),
            }
        )
    return rows


def _share(said: Sequence[str], problems: Sequence[Problem], *, filter: Filter) -> float:
    right = [is_match(s, p.answer, filter=filter) for s, p in zip(said, problems, strict=True)]
    return sum(right) / len(right)


def _with_room(lm: LanguageModel, problems: Sequence[Problem]) -> list[tuple[int, ...]]:
    """Return prompts as the model was trained on them."""
    examples = as_examples(problems, lm, room=min(ROOM, lm.context - 4))
    return [example.prompt for example in examples]
