"""Accuracies on the benchmarks by plain torch, without lm-eval, to be held against its.

What is asked is written out once more, beside the files for lm-eval, so that one can be held
against the other. A text that is too long for a model's context loses its beginning, and the start
token stays before what is left, as no text without it was seen in training.
Letters in tensor names: B inputs of one length, T positions, V vocabulary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch

from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.word_problems import Filter, is_match

Tokens = tuple[int, ...]
Document = Mapping[str, Any]
LETTERS = "ABCDEFGH"

TOGETHER = 4096
"""Most tokens in one pass."""
MOST_WRITTEN = 256
"""Tokens of an answer that is written out; lm-eval's default."""
WRITTEN_UNTIL = ("Question:", "</s>", "<|im_end|>")
"""What ends an answer in lm-eval's gsm8k, beside the end token and its name."""
FILTERS: dict[str, Filter] = {"strict-match": "strict", "flexible-extract": "flexible"}
"""lm-eval's names of gsm8k's filters -> ours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question with choices; the likeliest continuation is the model's answer."""

    pairs: tuple[tuple[str, str], ...]
    """For each choice the text before, and its continuation that is scored."""
    answer: int
    """Place of the right choice."""


def _mmlu(document: Document) -> Question:
    subject = document["subject"].replace("_", " ")
    opening = f"The following are multiple choice questions (with answers) about {subject}."
    choices = zip(LETTERS, document["choices"], strict=False)
    listed = "\n".join(f"{letter}. {choice}" for letter, choice in choices)
    prompt = f"{opening}\n\n{document['question'].strip()}\n{listed}\nAnswer:"
    pairs = tuple((prompt, f" {letter}") for letter in LETTERS[:4])
    return Question(pairs=pairs, answer=document["answer"])


def _agieval(document: Document) -> Question:
    options = document["options"]
    passage = document["passage"] or ""
    prompt = (
        f"{passage}Q: {document['question']} Answer Choices: {' '.join(options)}\n"
        f"A: Among A through {LETTERS[len(options) - 1]}, the answer is"
    )
    pairs = tuple((prompt, f" {option}") for option in options)
    return Question(pairs=pairs, answer=LETTERS.index(document["label"]))


def _winogrande(document: Document) -> Question:
    before, _, after = document["sentence"].partition("_")
    options = (document["option1"], document["option2"])
    pairs = tuple((before + option, f" {after.strip()}") for option in options)
    return Question(pairs=pairs, answer=document["answer"] - 1)


def _pubmedqa(document: Document) -> Question:
    abstract = "\n".join(document["contexts"])
    prompt = f"Abstract: {abstract}\nQuestion: {document['question']}\nAnswer:"
    decisions = ("yes", "no", "maybe")
    pairs = tuple((prompt, f" {decision}") for decision in decisions)
    return Question(pairs=pairs, answer=decisions.index(document["final_decision"]))


QUESTIONS: dict[str, Callable[[Document], Question]] = {
    "mmlu": _mmlu,
    "agieval": _agieval,
    "winogrande": _winogrande,
    "pubmedqa": _pubmedqa,
}
"""The paper's benchmarks with choices. GSM8K has none: its answers are written out."""


def word_problem(document: Document) -> str:
    """Return what GSM8K puts before the answer that a model writes."""
    return f"Question: {document['question']}\nAnswer:"


def accuracies(
    lm: LanguageModel, benchmark: str, documents: Sequence[Document]
) -> dict[str, float]:
    """Return a benchmark's accuracy by lm-eval's name of the filter; `none` for choices."""
    if benchmark in QUESTIONS:
        ask = QUESTIONS[benchmark]
        return {"none": choice_accuracy(lm, [ask(document) for document in documents])}
    return exact_matches(lm, documents)


def choice_accuracy(lm: LanguageModel, questions: Sequence[Question]) -> float:
    """Return how often the right choice is the likeliest; of equals the first one counts."""
    found = iter(log_likelihoods(lm, [pair for question in questions for pair in question.pairs]))
    num_right = 0
    for question in questions:
        scores = [next(found) for _ in question.pairs]
        num_right += scores.index(max(scores)) == question.answer
    return num_right / len(questions)


def exact_matches(lm: LanguageModel, documents: Sequence[Document]) -> dict[str, float]:
    """Return how often the greedy answer gives GSM8K's number, by filter."""
    room = answer_room(lm)
    asked = lm.encode_all([word_problem(document) for document in documents])
    prompts = [fitted(lm, tokens, room=room) for tokens in asked]
    responses = [_response(lm, one) for one in greedy(lm, prompts, max_new_tokens=room)]
    right = {
        name: sum(
            is_match(response, document["answer"], filter=ours)
            for response, document in zip(responses, documents, strict=True)
        )
        for name, ours in FILTERS.items()
    }
    return {name: count / len(documents) for name, count in right.items()}


def log_likelihoods(lm: LanguageModel, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the log-likelihood in nats of each pair's continuation after its context."""
    asked = [inputs_and_targets(lm, context, continuation) for context, continuation in pairs]
    targets_of: dict[Tokens, set[Tokens]] = defaultdict(set)
    for inputs, targets in asked:
        targets_of[inputs].add(targets)
    found: dict[tuple[Tokens, Tokens], float] = {}
    lm.model.eval()
    with torch.inference_mode():
        for batch in _batches(targets_of):
            ids_BT = torch.tensor(batch, device=lm.model.device)
            logits_BTV = lm.model(input_ids=ids_BT, use_cache=False).logits
            for inputs, log_probs_TV in zip(batch, logits_BTV.log_softmax(-1), strict=True):
                for targets in targets_of[inputs]:
                    last = torch.tensor(targets, device=ids_BT.device)[:, None]
                    chosen = log_probs_TV[-len(targets) :].gather(1, last)
                    found[inputs, targets] = float(chosen.sum())
    return [found[one] for one in asked]


def inputs_and_targets(lm: LanguageModel, context: str, continuation: str) -> tuple[Tokens, Tokens]:
    """Return what the model reads, and the tokens of the continuation, which its end predicts.

    The two are tokenized as one text, blanks at their seam as part of the continuation.
    """
    start = len(lm.encode(context.rstrip()))
    tokens = lm.encode(context + continuation)
    return cut(lm, tokens[:start], tokens[start:])


def cut(
    lm: LanguageModel, context: Sequence[int], continuation: Sequence[int]
) -> tuple[Tokens, Tokens]:
    """Return what a model reads and the targets, for tokens without the start token.

    Where a continuation alone is too long, its end is scored.
    """
    targets = tuple(continuation[-lm.context :])
    before = fitted(lm, context, room=len(targets) - 1)
    return (*before, *targets[:-1]), targets


def fitted(lm: LanguageModel, tokens: Sequence[int], *, room: int) -> list[int]:
    """Return the start token and the last ones of a text that leave room for some more."""
    most = lm.context - 1 - room
    return [lm.bos, *tokens[max(0, len(tokens) - most) :]]


def answer_room(lm: LanguageModel) -> int:
    """Return how many tokens an answer may have that is written out: at most half the context."""
    return min(MOST_WRITTEN, lm.context // 2)


def _batches(inputs: Iterable[Tokens]) -> Iterator[list[Tokens]]:
    """Yield inputs of one length together, so that nothing is padded."""
    for length, members in groupby(sorted(inputs, key=lambda one: (len(one), one)), key=len):
        rest = list(members)
        size = max(1, TOGETHER // length)
        yield from (rest[start : start + size] for start in range(0, len(rest), size))


def _response(lm: LanguageModel, tokens: list[int]) -> str:
    text = str(lm.tokenizer.decode(tokens, skip_special_tokens=True))
    for end in (*WRITTEN_UNTIL, str(lm.tokenizer.eos_token)):
        text = text.split(end)[0]
    return text
