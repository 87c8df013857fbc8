"""From the parameters of a fine-tuning trial to its rows: losses over steps, and what came out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from harness.declare.experiment import Outcome, RawParams, Row, RunContext, Status
from harness.errors import SpecError
from reproductions.lisa.finetuning.choice import choice_accuracy
from reproductions.lisa.method.methods import (
    Badam,
    Full,
    Galore,
    LisaMethod,
    Lora,
    Method,
    Prepared,
)
from reproductions.lisa.models.instructions import (
    Instructions,
    Record,
    batches,
    in_order,
    load_instructions,
)
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.pretraining import WEIGHTS
from reproductions.lisa.models.training import Recipe, mean_loss, train

NUM_TRAIN, NUM_HELD_OUT, NUM_CHOSEN = 2048, 192, 64
"""Examples to draw batches from; of each other split; and of these for choosing among answers."""
EVALUATED_TOGETHER = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A model to fine-tune, and the examples for it."""

    lm: LanguageModel
    examples: Instructions

    def loss(self, model: nn.Module, split: str) -> float:
        """Return the loss in nats an answer token on all of a split."""
        examples = getattr(self.examples, split)
        padding = self.lm.eos
        return mean_loss(model, in_order(examples, batch_size=EVALUATED_TOGETHER, padding=padding))


def finetune_rows(
    params: RawParams, ctx: RunContext, *, lm: LanguageModel, records: list[Record]
) -> Outcome:
    """Fine-tune a model; return losses over the steps, and at the end what it came to.

    Rows by `split`: `train` at each step, before it; `test` before training and after every
    `evaluate_every` steps; `validation` at the end; the last `test` row also has the accuracy of
    choosing among answers. Where the loss is not finite the run ends there, as diverged.
    """
    setting = setting_of(params, lm, records)
    prepared = prepare(params, ctx, lm)
    rows: list[Row] = [_row("test", 0, setting.loss(prepared.model, "test"))]
    evaluate = _evaluator(rows, params, setting, prepared)
    losses = run_steps(params, ctx, setting, prepared, after_step=evaluate)
    rows += [_row("train", step, loss) for step, loss in enumerate(losses, start=1)]
    if not math.isfinite(losses[-1]):
        rows[-1] = _row("train", len(losses), None)
        note = f"the training loss is {losses[-1]} at step {len(losses)}"
        return Outcome(rows=rows, status=Status.DIVERGED, note=note)
    end = int(params["num_steps"])
    rows.append(_row("validation", end, setting.loss(prepared.model, "validation")))
    chosen = setting.examples.test[:NUM_CHOSEN]
    accuracy = choice_accuracy(prepared.model, chosen, padding=lm.eos)
    rows.append({**_row("test", end, setting.loss(prepared.model, "test")), "accuracy": accuracy})
    if params["keep_weights"]:
        ctx.save(WEIGHTS, merged(prepared).state_dict())
    return Outcome(rows=rows)


def setting_of(params: RawParams, lm: LanguageModel, records: list[Record]) -> Setting:
    """Return a model with the examples that fit it."""
    small = params["model"] == "tiny-path"
    return Setting(
        lm=lm,
        examples=load_instructions(
            records,
            lm,
            max_tokens=int(params["max_tokens"]),
            num_train=64 if small else NUM_TRAIN,
            num_held_out=8 if small else NUM_HELD_OUT,
        ),
    )


def prepare(params: RawParams, ctx: RunContext, lm: LanguageModel) -> Prepared:
    """Return the model made ready for the trial's method."""
    # Adapters are drawn from the global generator.
    with torch.random.fork_rng():
        torch.manual_seed(ctx.seed("adapters"))
        method = method_of(params, layer_seed=layer_seed_of(params, ctx))
        return method.prepare(lm.model, recipe_of(params).optimizer)


def run_steps(
    params: RawParams,
    ctx: RunContext,
    setting: Setting,
    prepared: Prepared,
    *,
    after_step: Callable[[int, float], None],
) -> list[float]:
    """Train on the trial's batches; at one seed every method sees the same ones."""
    stream = batches(
        setting.examples.train,
        batch_size=int(params["batch_size"]),
        num_steps=int(params["num_steps"]),
        padding=setting.lm.eos,
        generator=torch.Generator().manual_seed(ctx.seed("batches")),
    )
    recipe = recipe_of(params)
    return train(prepared.model, prepared.optimizer, stream, recipe, after_step=after_step)


def method_of(params: RawParams, *, layer_seed: int) -> Method:
    """Return a trial's method. Raises SpecError for an unknown one."""
    match params["method"]:
        case "full":
            return Full()
        case "lora":
            rank = int(params["rank"])
            return Lora(rank=rank, alpha=2.0 * rank, dropout=0.0, embeddings=False)
        case "galore":
            return Galore(rank=int(params["rank"]))
        case "cyclic":
            return Badam(period=int(params["period"]), seed=layer_seed)
        case "lisa":
            return LisaMethod(
                gamma=int(params["gamma"]), period=int(params["period"]), seed=layer_seed
            )
    raise SpecError(
        f"method={params['method']!r}: need 'full', 'lora', 'galore', 'cyclic' or 'lisa'"
    )


def layer_seed_of(params: RawParams, ctx: RunContext) -> int:
    """Return the seed of the layers' draws: another one a layer seed, whatever else is equal."""
    return ctx.seed(f"layers {params['layer_seed']}")


def recipe_of(params: RawParams) -> Recipe:
    """Return AdamW without decay, a short warm-up, and a cosine to zero."""
    num_steps = int(params["num_steps"])
    return Recipe(
        lr=float(params["lr"]), num_steps=num_steps, warmup_steps=num_steps // 30,
        last_lr_share=0.0, weight_decay=0.0, betas=(0.9, 0.999), clip_norm=1.0,
    )  # fmt: skip


def merged(prepared: Prepared) -> nn.Module:
    """Return the model with adapters added to its weights, where it has any."""
    merge = getattr(prepared.model, "merge_and_unload", None)
    return merge() if merge is not None else prepared.model


def _evaluator(
    rows: list[Row], params: RawParams, setting: Setting, prepared: Prepared
) -> Callable[[int, float], None]:
    """Return what adds a row with the loss on the test split, every so many steps but the last."""
    every, end = int(params["evaluate_every"]), int(params["num_steps"])

    def evaluate(step: int, _: float) -> None:
        if step % every == 0 and step < end:
            rows.append(_row("test", step, setting.loss(prepared.model, "test")))
            prepared.model.train()

    return evaluate


def _row(split: str, step: int, loss: float | None) -> dict[str, str | int | float | None]:
    return {"split": split, "step": step, "loss": loss, "accuracy": None}
