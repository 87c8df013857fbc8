"""Training on instructions, as several studies do it: examples, batches, recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import nn

from harness.declare import Outcome, Row, RunContext, Status
from reproductions.lisa.method.methods import Method, Prepared
from reproductions.lisa.models.instructions import (
    Record,
    Setting,
    batches,
    load_instructions,
)
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.names import GRAMMAR, SMALLEST
from reproductions.lisa.models.training import Recipe, train
from reproductions.lisa.models.tuning import RECORDS, Tuning

NUM_TRAIN, NUM_HELD_OUT = 2048, 192
"""Examples to draw batches from; of each other split."""


def setting_of(params: Tuning, lm: LanguageModel, records: list[Record]) -> Setting:
    """Return a model with the examples that fit it."""
    small = params.model == SMALLEST
    return load_instructions(
        records,
        lm,
        max_tokens=params.max_tokens,
        num_train=64 if small else NUM_TRAIN,
        num_held_out=8 if small else NUM_HELD_OUT,
    )


def records_of(model: str, ctx: RunContext) -> list[Record]:
    """Return instructions with answers; for the smallest model each sentence answers another."""
    if model != SMALLEST:
        return list(ctx.dataset(RECORDS).records)
    sentences = ctx.dataset(GRAMMAR).text[100_000:].split(". ")
    return [
        {"instruction": one, "input": "", "output": other} for one, other in pairwise(sentences)
    ]


def prepare(params: Tuning, ctx: RunContext, model: nn.Module, method: Method) -> Prepared:
    """Return a model made ready to train by a method; adapters are drawn by the trial's seed."""
    recipe = recipe_of(params.lr, params.num_steps)
    # They are drawn from the global generator.
    with torch.random.fork_rng():
        torch.manual_seed(ctx.seed("adapters"))
        return method.prepare(model, recipe.optimizer)


def merged(prepared: Prepared) -> nn.Module:
    """Return the model with adapters added to its weights, where it has any."""
    merge = getattr(prepared.model, "merge_and_unload", None)
    return merge() if merge is not None else prepared.model


def run_steps(
    params: Tuning,
    ctx: RunContext,
    setting: Setting,
    prepared: Prepared,
    *,
    after_step: Callable[[int, float], None],
) -> list[float]:
    """Train on the trial's batches; at one seed every method sees the same ones."""
    stream = batches(
        setting.train,
        batch_size=params.batch_size,
        num_steps=params.num_steps,
        padding=setting.lm.eos,
        generator=torch.Generator().manual_seed(ctx.seed("batches")),
    )
    recipe = recipe_of(params.lr, params.num_steps)
    return train(prepared.model, prepared.optimizer, stream, recipe, after_step=after_step)


def diverged(rows: list[Row], losses: Sequence[float], where: str = "") -> Outcome:
    """Return the end of a run whose last loss is not finite."""
    note = f"the training loss is {losses[-1]} at step {len(losses)}{where}"
    return Outcome(rows=rows, status=Status.DIVERGED, note=note)


def recipe_of(lr: float, num_steps: int) -> Recipe:
    """Return AdamW without decay, a short warm-up, and a cosine to zero."""
    return Recipe(
        lr=lr, num_steps=num_steps, warmup_steps=num_steps // 30, last_lr_share=0.0,
        weight_decay=0.0, betas=(0.9, 0.999), clip_norm=1.0,
    )  # fmt: skip
