"""A GPT in one file: pre-norm blocks, tied embeddings, every scale a plain number.

The net knows no parameterization. The multipliers of the embedding and of the logits and the
scale of the attention scores are handed in, so SP, muP and their relatives are configurations.
Hidden matrices, and only they, are `nn.Linear`.

Sources: GPT-2 (learned positions, GELU), arXiv 2108.12409 (ALiBi), arXiv 2002.05202 (SwiGLU).

Letters in tensor names: B sequences, T positions, D width, H heads, K head size,
F feed-forward width, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError

DEFAULT_STD = 0.02
"""Spread of a new net's matrices, as in GPT-2; a method that cares draws them again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GPTConfig:
    """Shape and scales of a GPT."""

    vocab_size: int
    width: int
    """D; a multiple of `head_size`."""
    num_layers: int
    head_size: int
    context: int
    """Longest sequence, in tokens."""
    feed_forward: Literal["gelu", "swiglu"]
    feed_forward_width: int
    """F; 4 D is usual with GELU, 8 D / 3 with SwiGLU, which has three matrices."""
    positions: Literal["learned", "alibi"]
    bias: bool
    """Whether linear layers and norms have biases."""
    embedding_multiplier: float
    """Factor of the embedded tokens and positions."""
    logit_multiplier: float
    attention_scale: float
    """Factor of the products of queries and keys: 1 / sqrt(K) in SP, 1 / K in muP."""

    def __post_init__(self) -> None:
        sizes = (self.vocab_size, self.width, self.num_layers, self.head_size, self.context)
        if min(*sizes, self.feed_forward_width) < 1:
            raise SpecError(f"{self}: every size must be at least 1")
        if self.width % self.head_size:
            raise SpecError(f"width={self.width}: need a multiple of head_size={self.head_size}")
        if self.feed_forward not in ("gelu", "swiglu"):
            raise SpecError(f"feed_forward={self.feed_forward!r}: need 'gelu' or 'swiglu'")
        if self.positions not in ("learned", "alibi"):
            raise SpecError(f"positions={self.positions!r}: need 'learned' or 'alibi'")

    @property
    def num_heads(self) -> int:
        return self.width // self.head_size


def num_params(config: GPTConfig) -> int:
    """Return the exact number of parameters, tied ones once.

    With V tokens, learned positions, GELU, F = 4 D and no biases it is 12 L D^2 + V D + T D
    and 2 L + 1 norm gains of size D.
    """
    d, f = config.width, config.feed_forward_width
    num_in = 2 if config.feed_forward == "swiglu" else 1
    embeddings = config.vocab_size + (config.context if config.positions == "learned" else 0)
    block = 4 * d * d + (num_in + 1) * d * f + 2 * d
    if config.bias:
        block += 4 * d + num_in * f + d + 2 * d
    final_norm = 2 * d if config.bias else d
    return embeddings * d + config.num_layers * block + final_norm


def alibi_slopes(num_heads: int) -> Tensor:
    """Return the slope of each head's distance penalty, shape (H,).

    A geometric sequence for a power of two; else filled up with every other slope of the next
    power of two. Source: arXiv 2108.12409, section 3 and the authors' code.

    >>> alibi_slopes(2).tolist()
    [0.0625, 0.00390625]
    """
    power = 2 ** math.floor(math.log2(num_heads))
    slopes = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
    finer = [2.0 ** (-4.0 * (i + 1) / power) for i in range(0, 2 * power, 2)]
    return torch.tensor(slopes + finer[: num_heads - power])


def alibi_bias(num_heads: int, num_positions: int) -> Tensor:
    """Return slope * (key - query), and -inf at future keys, shape (H, T, T)."""
    places_T = torch.arange(num_positions)
    distance_TT = (places_T[None, :] - places_T[:, None]).float()
    bias_HTT = alibi_slopes(num_heads)[:, None, None] * distance_TT
    return bias_HTT.masked_fill(distance_TT > 0, -math.inf)


class _Linear(nn.Linear):
    """A linear layer that starts uninitialized: nn.Linear draws from the global random state."""

    def reset_parameters(self) -> None:
        pass


class _Embedding(nn.Embedding):
    """An embedding that starts uninitialized, for the same reason."""

    def reset_parameters(self) -> None:
        pass


class Attention(nn.Module):
    """Causal self-attention with one fused matrix for queries, keys and values."""

    def __init__(self, config: GPTConfig, device: torch.device) -> None:
        super().__init__()
        self.config = config
        self.qkv = _Linear(config.width, 3 * config.width, bias=config.bias, device=device)
        self.out = _Linear(config.width, config.width, bias=config.bias, device=device)

    def forward(self, x_BTD: Tensor, bias_HTT: Tensor | None) -> Tensor:
        shape = (*x_BTD.shape[:2], 3, self.config.num_heads, self.config.head_size)
        q_BHTK, k_BHTK, v_BHTK = self.qkv(x_BTD).view(shape).permute(2, 0, 3, 1, 4).unbind(0)
        y_BHTK = F.scaled_dot_product_attention(
            q_BHTK,
            k_BHTK,
            v_BHTK,
            attn_mask=bias_HTT,
            is_causal=bias_HTT is None,
            scale=self.config.attention_scale,
        )
        x_BTD = self.out(y_BHTK.transpose(1, 2).reshape(x_BTD.shape))
        return x_BTD


class FeedForward(nn.Module):
    """GELU(x up) down, or (SiLU(x gate) * x up) down."""

    def __init__(self, config: GPTConfig, device: torch.device) -> None:
        super().__init__()
        width, wide, bias = config.width, config.feed_forward_width, config.bias
        gated = config.feed_forward == "swiglu"
        self.gate = _Linear(width, wide, bias=bias, device=device) if gated else None
        self.up = _Linear(width, wide, bias=bias, device=device)
        self.down = _Linear(wide, width, bias=bias, device=device)

    def forward(self, x_BTD: Tensor) -> Tensor:
        if self.gate is None:
            wide_BTF = F.gelu(self.up(x_BTD))
        else:
            wide_BTF = F.silu(self.gate(x_BTD)) * self.up(x_BTD)
        x_BTD = self.down(wide_BTF)
        return x_BTD


class Block(nn.Module):
    """One layer; the outputs of `attention` and `feed_forward` are added to the residual."""

    def __init__(self, config: GPTConfig, device: torch.device) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width, bias=config.bias, device=device)
        self.attention = Attention(config, device)
        self.feed_forward_norm = nn.LayerNorm(config.width, bias=config.bias, device=device)
        self.feed_forward = FeedForward(config, device)

    def forward(self, x_BTD: Tensor, bias_HTT: Tensor | None) -> Tensor:
        x_BTD = x_BTD + self.attention(self.attention_norm(x_BTD), bias_HTT)
        x_BTD = x_BTD + self.feed_forward(self.feed_forward_norm(x_BTD))
        return x_BTD


class GPT(nn.Module):
    """A decoder-only language model whose unembedding is its embedding.

    Matrices start normal with standard deviation 0.02, norms at 1, biases at 0.
    """

    bias_HTT: Tensor | None

    def __init__(
        self, config: GPTConfig, *, generator: torch.Generator, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__()
        device = torch.device(device)
        self.config = config
        self.tokens = _Embedding(config.vocab_size, config.width, device=device)
        self.positions = (
            _Embedding(config.context, config.width, device=device)
            if config.positions == "learned"
            else None
        )
        self.blocks = nn.ModuleList(Block(config, device) for _ in range(config.num_layers))
        self.final_norm = nn.LayerNorm(config.width, bias=config.bias, device=device)
        bias_HTT = None
        if self.positions is None:
            # On its device from the start: on the meta device a dry run must not compute it.
            with device:
                bias_HTT = alibi_bias(config.num_heads, config.context)
        # Follows from the configuration, so a checkpoint need not hold it.
        self.register_buffer("bias_HTT", bias_HTT, False)
        draw_normal(self, std=DEFAULT_STD, generator=generator)

    def forward(self, tokens_BT: Tensor) -> Tensor:
        """Return the logits of the next token, shape (B, T, V)."""
        return F.linear(self.features(tokens_BT), self.tokens.weight)

    def features(self, tokens_BT: Tensor) -> Tensor:
        """Return what the embedding makes logits of, shape (B, T, D)."""
        num_positions = tokens_BT.shape[1]
        if num_positions > self.config.context:
            raise SpecError(
                f"a sequence of {num_positions} tokens: this net was built for at most "
                f"{self.config.context}"
            )
        x_BTD, bias_HTT = self.tokens(tokens_BT), self.bias_HTT
        if self.positions is not None:
            x_BTD = x_BTD + self.positions.weight[:num_positions]
        if bias_HTT is not None:
            bias_HTT = bias_HTT[:, :num_positions, :num_positions]
        x_BTD = x_BTD * self.config.embedding_multiplier
        for block in self.blocks:
            x_BTD = block(x_BTD, bias_HTT)
        # Scaling the features costs less than scaling the logits, and is the same product.
        features_BTD: Tensor = self.final_norm(x_BTD) * self.config.logit_multiplier
        return features_BTD


def next_token_loss(logits_BTV: Tensor, targets_BT: Tensor) -> Tensor:
    """Return the mean cross-entropy in nats per token."""
    return F.cross_entropy(logits_BTV.flatten(0, 1), targets_BT.flatten())


@torch.no_grad()
def draw_normal(module: nn.Module, *, std: float, generator: torch.Generator) -> None:
    """Draw every matrix from N(0, std^2) in the order of named_parameters; zero the biases."""
    for name, parameter in module.named_parameters():
        if parameter.ndim >= 2:
            parameter.normal_(0.0, std, generator=generator)
        elif name.endswith("bias"):
            parameter.zero_()
