"""From the parameters of a trial to a trained net, its row, and what a dry run learns of it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor

from harness.declare import DryRun, Outcome, RunContext, Status
from harness.measure.dry_step import dry_step
from reproductions.nets.gpt import GPT, GPTConfig, next_token_loss, num_params
from reproductions.supar.method.density import Density
from reproductions.supar.method.dynamic import Gmp, Rigl
from reproductions.supar.method.masks import Pattern
from reproductions.supar.method.parameterization import BaseHyperparameters, Parameterization
from reproductions.supar.method.stacked import Stack
from reproductions.supar.models.costs import VOCABULARY
from reproductions.supar.models.points import Net, Shape, StartedNet, Trained, Training
from reproductions.supar.models.text import (
    Batch,
    Corpus,
    byte_corpus,
    character_corpus,
    gpt2_corpus,
    held_out_batch,
    training_batches,
)
from reproductions.supar.models.training import (
    BETAS,
    EPS,
    Seeds,
    TrainLog,
    build_adamw,
    build_gpt,
    evaluate,
    generator_of,
    groups_of,
    train,
    train_stack,
)

MODEL = "model.safetensors"
"""The artifact that holds a trained net."""
EVAL_WINDOWS = 64
"""Windows of each held-out part on which a trained net is evaluated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A trial's net before its first step, and all it will be trained and tested on."""

    training: Training
    parameterization: Parameterization
    model: GPT
    corpus: Corpus
    batches: Iterator[Batch]


def train_gpt(params: Trained, ctx: RunContext) -> Outcome:
    """Train one net with static masks; one row with its losses, None where it diverged."""
    return _trained(params, ctx)[0]


def train_and_keep(params: Trained, ctx: RunContext) -> Outcome:
    """Train one net as `train_gpt` does and keep it as an artifact, unless it diverged."""
    outcome, model = _trained(params, ctx)
    if outcome.status is Status.DONE:
        ctx.save(MODEL, model.state_dict())
    return outcome


def train_rates(points: Sequence[Trained], contexts: Sequence[RunContext]) -> list[Outcome]:
    """Train nets that differ in their learning rate alone as one stack; of each, its row.

    They share a start, masks and batches, so these are drawn once.
    """
    first = prepare(points[0], contexts[0], mask_density=points[0].density)
    for point, ctx in zip(points, contexts, strict=True):
        ctx.dataset(point.data)  # A record tells which data it was made from.
    members = [
        replace(
            first, parameterization=parameterization_of(point), model=copy.deepcopy(first.model)
        )
        for point in points
    ]
    stack = Stack([member.model for member in members])
    groups = [groups_of(member.model, member.parameterization) for member in members]
    optimizer = stack.adamw(groups, betas=BETAS, eps=EPS)
    batches = (batch.for_all(len(stack)) for batch in first.batches)
    logs = train_stack(stack, optimizer, batches, points[0])
    stack.write_back()
    return [finish(member, log) for member, log in zip(members, logs, strict=True)]


def _trained(params: Trained, ctx: RunContext) -> tuple[Outcome, GPT]:
    prepared = prepare(params, ctx, mask_density=params.density)
    optimizer = build_adamw(prepared.model, prepared.parameterization)
    return finish(prepared, run_training(prepared, optimizer, ctx)), prepared.model


def prepare(
    params: Trained, ctx: RunContext, *, mask_density: Density, pattern: Pattern = "exact"
) -> Prepared:
    """Build a trial's net and draw its batches; every random stream comes from `ctx`."""
    corpus = corpus_of(params, ctx)
    table = parameterization_of(params)
    config = gpt_config(params, table, corpus.vocab_size)
    model = build_gpt(
        config,
        table,
        Seeds(init=ctx.seed("init"), masks=ctx.seed("masks")),
        mask_density=mask_density,
        device=ctx.device,
        pattern=pattern,
    )
    batches = training_batches(
        corpus.train_N,
        context=config.context,
        batch_size=params.batch_size,
        num_batches=params.steps,
        generator=generator_of(ctx.seed("batches")),
    )
    return Prepared(
        training=params, parameterization=table, model=model, corpus=corpus, batches=batches
    )


def run_training(
    prepared: Prepared,
    optimizer: torch.optim.Optimizer,
    ctx: RunContext,
    *,
    topology: Rigl | Gmp | None = None,
) -> TrainLog:
    """Train a prepared net in place, from its checkpoint where there is one."""
    return train(
        prepared.model,
        optimizer,
        prepared.batches,
        prepared.training,
        topology=topology,
        checkpoint=ctx.checkpoint_path(),
    )


def finish(prepared: Prepared, log: TrainLog) -> Outcome:
    """Return a trained net's row: train_loss, val_loss, test_loss and clip_rate."""
    corpus = prepared.corpus
    if note := divergence(log, corpus.vocab_size):
        row = {"train_loss": None, "val_loss": None, "test_loss": None}
        return Outcome(
            rows=[{**row, "clip_rate": log.clip_rate}], status=Status.DIVERGED, note=note
        )
    context = prepared.model.config.context
    val_loss, test_loss = (
        evaluate(prepared.model, held_out_batch(part, context=context, num_windows=EVAL_WINDOWS))
        for part in (corpus.validation_N, corpus.test_N)
    )
    losses = {"train_loss": log.final_loss, "val_loss": val_loss, "test_loss": test_loss}
    return Outcome(rows=[{**losses, "clip_rate": log.clip_rate}])


def divergence(log: TrainLog, vocab_size: int) -> str:
    """Say how a run diverged: a loss not finite, or at last twice that of guessing, 2 ln V."""
    if log.diverged:
        return log.diverged
    bound = 2.0 * math.log(vocab_size)
    if log.final_loss > bound:
        return f"the last losses average {log.final_loss:.3g}, over 2 ln V = {bound:.3g}"
    return ""


def parameterization_of(params: Trained | StartedNet) -> Parameterization:
    """Return the parameterization that a trial's parameters describe."""
    return Parameterization(
        scheme=params.scheme,
        width_multiplier=params.width / params.base_width,
        density=params.density,
        base=BaseHyperparameters(
            init_std=params.init_std,
            lr=params.lr,
            input_multiplier=params.input_multiplier,
            output_multiplier=params.output_multiplier,
        ),
    )


def gpt_config(shape: Shape, parameterization: Parameterization, vocab_size: int) -> GPTConfig:
    """Return the net of a trial: no biases, F = 4 D with GELU, 8 D / 3 with SwiGLU."""
    gelu = shape.feed_forward == "gelu"
    return GPTConfig(
        vocab_size=vocab_size,
        width=shape.width,
        num_layers=shape.num_layers,
        head_size=shape.head_size,
        context=shape.context,
        feed_forward=shape.feed_forward,
        # The closest multiple of 8, for the GPU's sake, to the size of a GELU block.
        feed_forward_width=4 * shape.width if gelu else 8 * round(shape.width / 3),
        positions=shape.positions,
        bias=False,
        embedding_multiplier=parameterization.embedding_multiplier,
        logit_multiplier=parameterization.logit_multiplier,
        attention_scale=parameterization.attention_scale(shape.head_size),
    )


def corpus_of(net: Net, ctx: RunContext) -> Corpus:
    """Return the tokens of a trial's data set; records are joined in their order."""
    value = ctx.dataset(net.data).value
    if not isinstance(value, str):
        value = "\n\n".join(str(record["text"]) for record in cast(list[dict[str, Any]], value))
    encoders = {"characters": character_corpus, "bytes": byte_corpus, "gpt2": gpt2_corpus}
    return encoders[net.tokenizer](value)


def dry_run(params: Trained) -> DryRun:
    """Count the net and one step of it, on tensors that allocate nothing."""
    table = parameterization_of(params)
    config = gpt_config(params, table, VOCABULARY[params.tokenizer])
    batch_size = -(-params.batch_size // params.micro_batches)
    seeds = Seeds(init=0, masks=0)

    def loss_of(model: GPT) -> Callable[[], Tensor]:
        tokens_BT = torch.zeros(batch_size, config.context, dtype=torch.long)
        return lambda: next_token_loss(model(tokens_BT), tokens_BT)

    return dry_step(
        GPT(config, generator=torch.Generator(), device="meta"),
        lambda: build_gpt(config, table, seeds, mask_density=params.density),
        optimizer=lambda model: build_adamw(model, table),
        loss=loss_of,
        expected_num_params=num_params(config),
        num_steps=params.steps,
        num_micro_batches=params.micro_batches,
    )
