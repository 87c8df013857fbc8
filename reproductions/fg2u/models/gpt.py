"""A small GPT as a function of its weights, its attention written out.

Written out, since fused attention has no forward derivative; ReLU, since GELU's derivatives take
longer than the layer. Letters: B sequences, L tokens, D width, H heads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear, relu

Weights = dict[str, Tensor]
STD = 0.02
"""Of initial weights, as in GPT-2."""


class Net(Protocol):
    """A language model as a function of its weights."""

    def hidden(self, weights: Weights, tokens_BL: Tensor) -> Tensor:
        """Return the last layer's output at each token, shape (B, L, D)."""
        ...

    def logits(self, weights: Weights, tokens_BL: Tensor) -> Tensor:
        """Return scores of the next token, shape (B, L, vocabulary)."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpt:
    """A decoder with learned positions, norms before its layers and a tied output."""

    vocab: int
    width: int
    num_blocks: int
    heads: int
    window: int

    def drawn(self, generator: torch.Generator) -> Weights:
        """Return initial weights."""
        d, std_out = self.width, STD / math.sqrt(2 * self.num_blocks)

        def normal(*shape: int, std: float = STD) -> Tensor:
            return std * torch.randn(*shape, generator=generator)

        weights = {"tokens": normal(self.vocab, d), "positions": normal(self.window, d)}
        for block in range(self.num_blocks):
            weights |= {
                f"{block}.attention.in": normal(3 * d, d),
                f"{block}.attention.out": normal(d, d, std=std_out),
                f"{block}.feed.in": normal(4 * d, d),
                f"{block}.feed.in_bias": torch.zeros(4 * d),
                f"{block}.feed.out": normal(d, 4 * d, std=std_out),
            }
            for layer in ("attention", "feed"):
                weights |= self._norm(f"{block}.{layer}.")
        return weights | self._norm("")

    def _norm(self, prefix: str) -> Weights:
        return {
            f"{prefix}norm": torch.ones(self.width),
            f"{prefix}norm_bias": torch.zeros(self.width),
        }

    def hidden(self, weights: Weights, tokens_BL: Tensor) -> Tensor:
        x = weights["tokens"][tokens_BL] + weights["positions"][: tokens_BL.shape[1]]
        for block in range(self.num_blocks):
            x = x + self._attended(weights, x, f"{block}.attention.")
            prefix = f"{block}.feed."
            given = self._normed(weights, x, prefix)
            inside = linear(given, weights[f"{prefix}in"], weights[f"{prefix}in_bias"])
            x = x + linear(relu(inside), weights[f"{prefix}out"])
        return self._normed(weights, x, "")

    def logits(self, weights: Weights, tokens_BL: Tensor) -> Tensor:
        return linear(self.hidden(weights, tokens_BL), weights["tokens"])

    def _normed(self, weights: Weights, x: Tensor, prefix: str) -> Tensor:
        shape = (self.width,)
        return layer_norm(x, shape, weights[f"{prefix}norm"], weights[f"{prefix}norm_bias"])

    def _attended(self, weights: Weights, x: Tensor, prefix: str) -> Tensor:
        size, length, d = x.shape
        each = linear(self._normed(weights, x, prefix), weights[f"{prefix}in"])
        q, k, v = each.view(size, length, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores_BHLL = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        shares_BHLL = scores_BHLL.masked_fill(later, -math.inf).softmax(-1)
        mixed = (shares_BHLL @ v).transpose(1, 2).reshape(size, length, d)
        return linear(mixed, weights[f"{prefix}out"])
