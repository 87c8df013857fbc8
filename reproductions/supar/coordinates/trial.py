"""A trial of the coordinate check: ten steps of a GPT, each layer measured before each."""

from __future__ import annotations

from dataclasses import asdict

from torch import Tensor, nn

from harness.declare import Row, RunContext
from reproductions.nets.gpt import GPT, next_token_loss
from reproductions.supar.method.activations import measure_steps
from reproductions.supar.models.gpt_trial import prepare
from reproductions.supar.models.points import FixedPoint
from reproductions.supar.models.text import Batch
from reproductions.supar.models.training import build_adamw


def measure_layers(params: FixedPoint, ctx: RunContext) -> list[Row]:
    """Train ten steps; one row per step, kind of block and layer."""
    prepared = prepare(params, ctx, mask_density=params.density, pattern="bernoulli")
    model = prepared.model
    blocks = gpt_blocks(model)
    kinds = {layer: kind for kind, layers in blocks.items() for layer in layers}
    layers = {layer: module for members in blocks.values() for layer, module in members.items()}
    device = next(model.parameters()).device
    batches = (batch.to(device) for batch in prepared.batches)
    optimizer = build_adamw(model, prepared.parameterization)
    measured = measure_steps(model, optimizer, batches, layers, loss=gpt_loss)
    return [{"block": kinds[row.layer], **asdict(row)} for row in measured]


def gpt_blocks(model: GPT) -> dict[str, dict[str, nn.Module]]:
    """Return the attention and the feed-forward modules of a GPT, by kind and name."""
    return {
        kind: {
            f"blocks.{index}.{kind}": block.get_submodule(kind)
            for index, block in enumerate(model.blocks)
        }
        for kind in ("attention", "feed_forward")
    }


def gpt_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Return the mean next-token loss of a GPT."""
    return next_token_loss(model(batch.tokens_BT), batch.targets_BT)
