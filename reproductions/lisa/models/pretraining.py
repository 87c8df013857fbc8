"""The in-house model: a small LLaMA, trained from new weights on running text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from harness.store.checkpoint import load_checkpoint, save_checkpoint
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.shapes import Shape
from reproductions.lisa.models.steps.memory import build
from reproductions.lisa.models.tokenizer import as_tensor, from_tensor, learn_tokenizer
from reproductions.lisa.models.training import Recipe, shuffled, train, whole

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

CHECKPOINT_EVERY = 100
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.safetensors"


def new_model(shape: Shape, texts: list[str], *, vocab_chars: int, seed: int) -> LanguageModel:
    """Return a model with new weights, and a tokenizer learned from the start of the texts.

    vocab_chars: characters of each text that pairs are counted in.
    """
    tokenizer = learn_tokenizer((text[:vocab_chars] for text in texts), vocab_size=shape.vocab)
    return _with(_weights(shape, seed=seed), as_tensor(tokenizer))


def pretrain(
    lm: LanguageModel,
    windows_NT: Tensor,
    recipe: Recipe,
    *,
    batch_size: int,
    seed: int,
    checkpoint: Path,
) -> list[float]:
    """Train on windows; a run that is killed goes on from its checkpoint, to the same weights.

    Returns the loss of every step, before it.
    """
    optimizer = recipe.optimizer(lm.model.parameters())
    restored = load_checkpoint(checkpoint, model=lm.model, optimizer=optimizer, generators={})
    start = restored.step if restored else 0
    losses = restored.tensors["losses"] if restored else torch.zeros(recipe.num_steps)

    def keep(step: int, loss: float) -> None:
        losses[step - 1] = loss
        if step % CHECKPOINT_EVERY == 0 and step < recipe.num_steps:
            save_checkpoint(
                checkpoint, step=step, model=lm.model, optimizer=optimizer, generators={},
                tensors={"losses": losses},
            )  # fmt: skip

    order = shuffled(
        len(windows_NT), batch_size=batch_size, num_steps=recipe.num_steps,
        generator=torch.Generator().manual_seed(seed),
    )  # fmt: skip
    batches = (whole(windows_NT[rows]) for rows in islice(order, start, None))
    train(lm.model, optimizer, batches, recipe, first_step=start, after_step=keep)
    return losses.tolist()


def load(
    shape: Shape, weights: Mapping[str, Tensor], tokenizer: Mapping[str, Tensor]
) -> LanguageModel:
    """Return a model from its two artifacts, in float32."""
    lm = _with(_weights(shape, seed=0), tokenizer["json"])
    lm.model.load_state_dict(dict(weights))
    return lm


def _weights(shape: Shape, *, seed: int) -> nn.Module:
    model = build(shape.config(), "float32", seed=seed)
    # Eager attention is for counting what it saves; this computes the same, faster.
    model.set_attn_implementation("sdpa")  # type: ignore[operator]
    return model


def _with(model: nn.Module, json_N: Tensor) -> LanguageModel:
    return LanguageModel(model=cast("LlamaForCausalLM", model), tokenizer=from_tensor(json_N))
