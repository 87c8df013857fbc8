"""From the parameters of a fine-tuning trial to its rows: losses over steps, and what came out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch import nn

from harness.declare import Outcome, Row, RunContext
from reproductions.lisa.base_model.experiment import base_of
from reproductions.lisa.finetuning.experiment import Tune
from reproductions.lisa.method.methods import Method, Prepared, from_params
from reproductions.lisa.models.fine_tuning import (
    diverged,
    merged,
    prepare,
    records_of,
    run_steps,
    setting_of,
)
from reproductions.lisa.models.instructions import Example, Setting, batch_of
from reproductions.lisa.models.pretraining import WEIGHTS
from reproductions.lisa.models.training import answer_nats

NUM_CHOSEN = 64
"""Test examples for choosing among answers."""
NUM_CHOICES = 4


def finetune_rows(params: Tune, ctx: RunContext) -> Outcome:
    """Fine-tune one model by one method."""
    records = records_of(params.model, ctx)
    setting = setting_of(params, base_of(params.model, ctx, params.text), records)
    return rows_of(params, ctx, setting)


def rows_of(params: Tune, ctx: RunContext, setting: Setting) -> Outcome:
    """Fine-tune a model; return losses over the steps, and at the end what it came to.

    Rows by `split`: `train` at each step, before it; `test` before training and after every
    `evaluate_every` steps; `validation` at the end; the last `test` row also has the accuracy of
    choosing among answers. Where the loss is not finite the run ends there, as diverged.
    """
    prepared = prepare(params, ctx, setting.lm.model, method_of(params, ctx))
    rows: list[Row] = [_row("test", 0, setting.loss(prepared.model, "test"))]
    evaluate = _evaluator(rows, params, setting, prepared)
    losses = run_steps(params, ctx, setting, prepared, after_step=evaluate)
    rows += [_row("train", step, loss) for step, loss in enumerate(losses, start=1)]
    if not math.isfinite(losses[-1]):
        rows[-1] = _row("train", len(losses), None)
        return diverged(rows, losses)
    end = params.num_steps
    rows.append(_row("validation", end, setting.loss(prepared.model, "validation")))
    chosen = setting.test[:NUM_CHOSEN]
    accuracy = choice_accuracy(prepared.model, chosen, padding=setting.lm.eos)
    rows.append({**_row("test", end, setting.loss(prepared.model, "test")), "accuracy": accuracy})
    if params.keep_weights:
        ctx.save(WEIGHTS, merged(prepared).state_dict())
    return Outcome(rows=rows)


def method_of(params: Tune, ctx: RunContext) -> Method:
    """Return the trial's method."""
    return from_params(
        params.method,
        rank=params.rank,
        outside=params.outside,
        alpha=2.0 * params.rank,
        gamma=params.gamma,
        period=params.period,
        # Another one per layer seed, whatever else is equal.
        seed=ctx.seed(f"layers {params.layer_seed}"),
        policy=params.policy,
    )


def with_distractors(examples: Sequence[Example]) -> list[list[Example]]:
    """Return each example's own answer, first, and those of the next three examples."""
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


def _evaluator(
    rows: list[Row], params: Tune, setting: Setting, prepared: Prepared
) -> Callable[[int, float], None]:
    """Return what adds a row with the loss on the test split, every so many steps but the last."""

    def evaluate(step: int, _: float) -> None:
        if step % params.evaluate_every == 0 and step < params.num_steps:
            rows.append(_row("test", step, setting.loss(prepared.model, "test")))
            prepared.model.train()

    return evaluate


def _row(split: str, step: int, loss: float | None) -> dict[str, str | int | float | None]:
    return {"split": split, "step": step, "loss": loss, "accuracy": None}
