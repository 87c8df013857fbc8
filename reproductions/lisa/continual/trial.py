"""From the parameters of a trial of continual pre-training to its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from harness.declare import Outcome, Row, RunContext
from reproductions.lisa.base_model.experiment import base_of
from reproductions.lisa.continual.experiment import SOLUTIONS, TwoStages
from reproductions.lisa.method.methods import from_params
from reproductions.lisa.models.fine_tuning import diverged, recipe_of
from reproductions.lisa.models.instructions import Example, answer_loss, batch_of
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.pretraining import WEIGHTS
from reproductions.lisa.models.solving import (
    EVALUATED_TOGETHER,
    ROOM,
    as_examples,
    fitting,
    mixed,
    score,
    solution_text,
)
from reproductions.lisa.models.training import TextBatch, train, whole, windows
from reproductions.lisa.models.word_problems import Problem, Split, sample, statements, stream

STRETCHES = 4
"""Rows of the training loss per stage."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A model in training, and what it is tested on."""

    params: TwoStages
    ctx: RunContext
    lm: LanguageModel
    room: int
    """Tokens for an answer."""

    def held_out(self, split: Split) -> list[Problem]:
        """Return the problems of a split; all methods at a seed have the same."""
        return sample(split, self.params.num_held_out, seed=self.ctx.seed(f"problems {split}"))

    def examples(self, problems: Iterable[Problem]) -> list[Example]:
        """Return problems as tokens."""
        return as_examples(list(problems), self.lm, room=self.room)


def continual_rows(params: TwoStages, ctx: RunContext) -> Outcome:
    """Train a pre-trained model in two stages by one method."""
    return rows_of(params, ctx, base_of(params.model, ctx))


def rows_of(params: TwoStages, ctx: RunContext, lm: LanguageModel) -> Outcome:
    """Train on text, then on problems, both by one method; rows by stage and split.

    `train` has the mean loss over a stretch of steps, before each; `validation` the loss on answers
    after a stage, and after the last one what is solved too, as `test` has it. Where the loss is
    not finite the run ends, as diverged, and has no row of `validation` or `test` at the end.
    """
    trial = Trial(params=params, ctx=ctx, lm=lm, room=min(ROOM, lm.context - 4))
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
            examples = trial.examples(trial.held_out("validation"))
            loss = answer_loss(lm.model, examples, batch_size=EVALUATED_TOGETHER, padding=lm.eos)
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
        solutions = fitting(map(solution_text, ctx.dataset(SOLUTIONS).records), lm)
    batch_size = trial.params.batch_size
    windows_NT = windows(
        lm, mixed(statements(seed=ctx.seed("statements")), solutions),
        most=trial.params.text_steps * batch_size, num_tokens=trial.params.max_tokens,
    )  # fmt: skip
    return map(whole, windows_NT.split(batch_size))


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
        found = score(
            trial.lm, trial.held_out(split), room=trial.room,
            max_new_tokens=trial.params.max_new_tokens,
        )  # fmt: skip
        row = _row("problems", split, trial.params.problems_steps, found.loss)
        accuracy = {
            "accuracy": found.accuracy["strict"],
            "flexible_accuracy": found.accuracy["flexible"],
        }
        rows.append({**row, **accuracy})
    return rows


def _row(
    stage: str, split: str, step: int, loss: float | None
) -> dict[str, str | int | float | None]:
    none = {"accuracy": None, "flexible_accuracy": None}
    return {"stage": stage, "split": split, "step": step, "loss": loss, **none}
