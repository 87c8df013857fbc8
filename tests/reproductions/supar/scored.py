"""Hand-made nets whose scores are known, and a trial that kept a net."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from reproductions.nets.gpt import GPT

SURE = 30.0


class HandMade(nn.Module):
    """A net over bytes that is sure of one next byte after each history, or of none."""

    def __init__(self, texts: Sequence[str] = (), *, context: int = 512) -> None:
        """Know some texts by heart; knowing none, find all bytes equally likely."""
        super().__init__()
        self.texts = [text.encode() for text in texts]
        self.config = SimpleNamespace(context=context, vocab_size=256)
        self.tokens = nn.Embedding(256, 1)

    def forward(self, tokens_BT: Tensor) -> Tensor:
        logits_BTV = torch.zeros(*tokens_BT.shape, 256)
        for row, tokens in enumerate(tokens_BT.tolist()):
            for place in range(len(tokens)):
                history = bytes(tokens[: place + 1])
                for text in self.texts:
                    if text.startswith(history) and len(text) > len(history):
                        logits_BTV[row, place, text[len(history)]] = SURE
        return logits_BTV


@torch.no_grad()
def plain_log_likelihood(model: GPT, context: bytes, continuation: bytes) -> float:
    """Sum log-probabilities one byte at a time, each after all that fits, in float64."""
    whole, total = context + continuation, 0.0
    for place in range(len(context), len(whole)):
        history = list(whole[max(0, place - model.config.context) : place])
        logits_V = model(torch.tensor([history]))[0, -1].double()
        total += float(logits_V.log_softmax(0)[whole[place]])
    return total


@dataclass(frozen=True)
class Kept:
    """A transfer trial as another experiment sees it."""

    tensors: Mapping[str, Tensor]
    val_loss: float | None = 1.0

    @property
    def rows(self) -> list[dict[str, float | None]]:
        return [{"val_loss": self.val_loss}]

    def load(self, name: str) -> dict[str, Tensor]:
        assert name == "model.safetensors"
        return dict(self.tensors)
