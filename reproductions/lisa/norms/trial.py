"""From the parameters of a trial on norms to its rows, one per layer."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import nn

from harness.declare import Outcome, Row, RunContext
from reproductions.lisa.base_model.experiment import base_of
from reproductions.lisa.method.methods import from_params
from reproductions.lisa.models.fine_tuning import (
    diverged,
    prepare,
    records_of,
    run_steps,
    setting_of,
)
from reproductions.lisa.models.instructions import Setting
from reproductions.lisa.models.shapes import Shape, shape_of
from reproductions.lisa.models.steps.memory import build
from reproductions.lisa.norms.experiment import (
    EMBEDDING,
    MEAN,
    START,
    Draw,
    Training,
    built,
    places_of,
)
from reproductions.lisa.norms.layers import LayerNorms, NormTrace, layers_of, merged_norm


def initial_rows(params: Draw, ctx: RunContext) -> list[Row]:
    """Draw adapters beside a model with random weights; the norms before any step.

    The model has the real widths and `num_blocks` blocks, which are all drawn alike.
    """
    with torch.device(ctx.device):
        model = build(built(params).config(), params.dtype, seed=ctx.seed("init"))
        base = weight_norms(model)
        adapted = with_adapters(model, rank=params.rank, seed=ctx.seed("adapters"))
    trace = NormTrace(adapted)
    return rows_of(START, trace.first, trace, base=base, shape=shape_of(params.model))


def with_adapters(model: nn.Module, *, rank: int, seed: int) -> nn.Module:
    """Return a model with adapters on all layers of the paper's Figure 2, as peft draws them.

    That is on all linear layers and all embeddings, of tokens and positions; a head that is the
    token embedding has none of its own, as the figure shows the same norm for both. alpha = rank.
    """
    from peft import LoraConfig, get_peft_model
    from transformers.pytorch_utils import Conv1D

    head = model.get_output_embeddings()  # type: ignore[operator]
    tied = head.weight is model.get_input_embeddings().weight  # type: ignore[operator]
    adaptable = (nn.Linear, nn.Embedding, Conv1D)
    modules = {name: m for name, m in model.named_modules() if isinstance(m, adaptable)}
    config = LoraConfig(
        r=rank,
        lora_alpha=rank,
        target_modules=[name for name, module in modules.items() if not (tied and module is head)],
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in modules.values()),
    )
    # peft draws from the global generator.
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return get_peft_model(model, config, autocast_adapter_dtype=False)


def training_rows(params: Training, ctx: RunContext) -> Outcome:
    """Fine-tune a pre-trained model, and measure after every step."""
    lm, records = base_of(params.model, ctx), records_of(params.model, ctx)
    return measured_rows(params, ctx, setting_of(params, lm, records))


def measured_rows(params: Training, ctx: RunContext, setting: Setting) -> Outcome:
    """Fine-tune, and measure after every step; norms before any step, and their means over steps.

    Every row has the validation loss at the end. Where a loss is not finite there are no means.
    """
    shape, model = shape_of(params.model), setting.lm.model
    base = weight_norms(model)
    # On all linear layers, the embedding and the head.
    method = from_params(params.method, rank=params.rank, alpha=2.0 * params.rank, embeddings=True)
    prepared = prepare(params, ctx, model, method)
    trace = NormTrace(prepared.model)
    first = rows_of(START, trace.first, trace, base=base, shape=shape)
    losses = run_steps(params, ctx, setting, prepared, after_step=lambda step, loss: trace.record())
    if not math.isfinite(losses[-1]):
        return diverged([{**row, "validation_loss": None} for row in first], losses)
    loss = setting.loss(prepared.model, "validation")
    means = rows_of(MEAN, trace.mean(), trace, base=base, shape=shape)
    return Outcome(rows=[{**row, "validation_loss": loss} for row in [*first, *means]])


def weight_norms(model: nn.Module) -> dict[str, float]:
    """Return the norm of each layer's parameters."""
    return {name: merged_norm(weights) for name, weights in layers_of(model).items()}


def rows_of(
    when: str,
    norms: Mapping[str, LayerNorms],
    trace: NormTrace,
    *,
    base: Mapping[str, float],
    shape: Shape,
) -> list[Row]:
    """Return a row per layer.

    base: norms of the weights before they were adapted or trained; a head that only its adapter
    makes a layer has the embedding's.
    """
    places = places_of(shape)
    return [
        {
            "when": when,
            "layer": name,
            "place": places[name],
            "adapter_norm": norm.adapter,
            "drawn_norm": trace.drawn[name],
            "change_norm": norm.change,
            "weight_norm": norm.weight,
            "base_norm": base.get(name, base[EMBEDDING]),
        }
        for name, norm in norms.items()
    ]
