"""A small language model and its training, as LISA and SmuPar are tried with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from tests.reproductions.lisa.small import VOCAB


class Small(nn.Module):
    """Four blocks with the face of a language model: a compiler is done with it in a second."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.embed, self.lm_head = nn.Embedding(VOCAB, 8), nn.Linear(8, VOCAB, bias=False)
            self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, input_ids: Tensor, labels: Tensor) -> Any:
        from transformers.modeling_outputs import CausalLMOutput

        hidden = self.embed(input_ids)
        for layer in self.layers:
            hidden = hidden + torch.tanh(layer(hidden))
        logits = self.lm_head(hidden[:, :-1]).flatten(0, 1)
        return CausalLMOutput(loss=nn.functional.cross_entropy(logits, labels[:, 1:].flatten()))


def loss_of(model: nn.Module, ids: Tensor) -> Tensor:
    loss: Tensor = model(input_ids=ids, labels=ids).loss
    return loss


def train(
    model: nn.Module,
    optimizer: Any,
    many: Iterable[Tensor],
    within: Callable[[], Any] = nullcontext,
) -> list[float]:
    """Take a step per batch, and return the losses before them."""
    losses = []
    for ids in many:
        with within():
            loss = loss_of(model, ids)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    return losses


def train_scaled(model: nn.Module, optimizer: Any, many: Iterable[Tensor]) -> None:
    """Take a step per batch with a scaler, which skips the second one."""
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    for number, ids in enumerate(many):
        scaler.scale(loss_of(model, ids) * (float("inf") if number == 1 else 1.0)).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
