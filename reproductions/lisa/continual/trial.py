"""From the parameters of a trial of continual pre-training to its rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from harness.declare import Outcome, Row, RunContext
from reproductions.lisa.base_model.experiment import base_of
from reproductions.lisa.continual.experiment import SOLUTIONS, TwoStages
from reproductions.lisa.method.methods import from_params
from reproductions.lisa.models.fine_tuning import diverged, recipe_of
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.instructions import Example, answer_loss, as_examples, batch_of
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.pretraining import WEIGHTS
from reproductions.lisa.models.training import TextBatch, train, whole, windows
from reproductions.lisa.models.word_problems import (
    Filter,
    Problem,
    Split,
    is_match,
    sample,
    statements,
    stream,
)

ONE_IN = 32
"""Paragraphs, of which one is a solved problem of GSM8K, where these are mixed in."""
STRETCHES = 4
"""Rows of the training loss per stage."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A model in training, and what it is tested on."""

    params: TwoStages
    ctx: RunContext
    lm: LanguageModel

    def held_out(self, split: Split) -> list[Problem]:
        """Return the problems of a split; all methods at a seed have the same."""
        return sample(split, self.params.num_held_out, seed=self.ctx.seed(f"problems {split}"))

    def examples(self, problems: Iterable[Problem]) -> list[Example]:
        """Return problems as tokens."""
        return as_examples(list(problems), self.lm)

    def loss(self, examples: list[Example]) -> float:
        """Return the loss in nats per answer token, given the problem."""
        return answer_loss(self.lm.model, examples, padding=self.lm.eos)

    def score(self, problems: Sequence[Problem]) -> dict[str, float]:
        """Return the loss on problems, and the share that greedy decoding solves, by filter."""
        examples, lm = self.examples(problems), self.lm
        prompts = [one.prompt for one in examples]
        found = greedy(lm, prompts, max_new_tokens=self.params.max_new_tokens)
        pairs = [
            (str(lm.tokenizer.decode(tokens)), one.answer)
            for tokens, one in zip(found, problems, strict=True)
        ]
        filters: dict[str, Filter] = {"accuracy": "strict", "flexible_accuracy": "flexible"}
        solved = {
            name: sum(is_match(said, answer, filter=kind) for said, answer in pairs) / len(pairs)
            for name, kind in filters.items()
        }
        return {"loss": self.loss(examples), **solved}


def continual_rows(params: TwoStages, ctx: RunContext) -> Outcome:
    """Train a pre-trained model in two stages by one method."""
    return rows_of(params, ctx, base_of(params.model, ctx))


def rows_of(params: TwoStages, ctx: RunContext, lm: LanguageModel) -> Outcome:
    """Train on text, then on problems, both by one method; rows by stage and split.

    `train` has the mean loss over a stretch of steps, before each; `validation` the loss on answers
    after a stage, and after the last one what is solved too, as `test` has it. Where the loss is
    not finite the run ends, as diverged, and has no row of `validation` or `test` at the end.
    """
    trial = Trial(params=params, ctx=ctx, lm=lm)
    rows: list[Row] = []
    stages: dict[str, Callable[[Trial], Iterator[TextBatch]]] = {
        "text": text_of, "problems": problems_of,
    }  # fmt: skip
    for stage, batches in stages.items():
        losses = _run_stage(trial, stage, batches(trial))
        rows += _train_rows(stage, losses)
        if not math.isfinite(losses[-1]):
            return diverged(rows, losses, where=f" of the stage {stage}")
        if stage == "text":
            loss = trial.loss(trial.examples(trial.held_out("validation")))
            rows.append(_row(stage, "validation", len(losses), loss))
    rows += _final_rows(trial)
    if params.keep_weights:
        ctx.save(WEIGHTS, lm.model.state_dict())
    return Outcome(rows=rows)


def text_of(trial: Trial) -> Iterator[TextBatch]:
    """Yield batches of mathematical text, with solutions of GSM8K among it where asked for."""
    ctx, lm = trial.ctx, trial.lm
    solutions: list[str] = []
    if trial.params.solutions:
        texts = map(solution_text, ctx.dataset(SOLUTIONS).records)
        solutions = [text for text in texts if len(lm.encode(text)) < lm.context]
    batch_size = trial.params.batch_size
    windows_NT = windows(
        lm, mixed(statements(seed=ctx.seed("statements")), solutions),
        most=trial.params.text_steps * batch_size, num_tokens=trial.params.max_tokens,
    )  # fmt: skip
    return map(whole, windows_NT.split(batch_size))


def solution_text(record: Mapping[str, Any]) -> str:
    r"""Return the steps of a record of GSM8K as running text, without its marks.

    >>> solution_text({"answer": "He has 2*3 = <<2*3=6>>6 eggs.\nSo 6.\n#### 6"})
    'He has 2*3 = 6 eggs. So 6.'
    """
    steps = str(record["answer"]).partition("\n####")[0]
    return " ".join(re.sub(r"<<.*?>>", "", steps).split())


def mixed(statements: Iterator[str], solutions: Sequence[str]) -> Iterator[str]:
    """Yield statements, one in ONE_IN of them replaced by the next solution, over and over."""
    others = cycle(solutions)
    for number, statement in enumerate(statements, start=1):
        yield next(others) if solutions and number % ONE_IN == 0 else statement


def problems_of(trial: Trial) -> Iterator[TextBatch]:
    """Yield batches of training problems, none twice but by chance; the loss is on answers."""
    problems = stream("train", seed=trial.ctx.seed("problems train"))
    for _ in range(trial.params.problems_steps):
        part = islice(problems, trial.params.batch_size)
        yield batch_of(trial.examples(part), padding=trial.lm.eos)


def _run_stage(trial: Trial, stage: str, batches: Iterable[TextBatch]) -> list[float]:
    """Train with a new optimizer and new draws of blocks; return the losses of its steps."""
    model = trial.lm.model
    # The stage before has left some blocks frozen.
    model.requires_grad_(True)
    params = trial.params
    num_steps = {"text": params.text_steps, "problems": params.problems_steps}[stage]
    recipe = recipe_of(params.lr, num_steps)
    method = from_params(
        params.method,
        gamma=params.gamma,
        period=params.period,
        seed=trial.ctx.seed(f"layers {stage}"),
    )
    prepared = method.prepare(model, recipe.optimizer)
    return train(prepared.model, prepared.optimizer, batches, recipe)


def _train_rows(stage: str, losses: list[float]) -> list[Row]:
    """Return mean losses over stretches; the last one holds what is left over."""
    length = max(1, len(losses) // STRETCHES)
    starts = list(range(0, len(losses), length))[:STRETCHES]
    ends = [*starts[1:], len(losses)]
    means = [sum(losses[a:b]) / (b - a) for a, b in zip(starts, ends, strict=True)]
    return [
        _row(stage, "train", end, mean if math.isfinite(mean) else None)
        for end, mean in zip(ends, means, strict=True)
    ]


def _final_rows(trial: Trial) -> list[Row]:
    rows: list[Row] = []
    splits: tuple[Split, ...] = ("validation", "test")
    for split in splits:
        row = _row("problems", split, trial.params.problems_steps, None)
        rows.append({**row, **trial.score(trial.held_out(split))})
    return rows


def _row(
    stage: str, split: str, step: int, loss: float | None
) -> dict[str, str | int | float | None]:
    none = {"accuracy": None, "flexible_accuracy": None}
    return {"stage": stage, "split": split, "step": step, "loss": loss, **none}
