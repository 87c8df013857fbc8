"""A small transformer, of sizes that no number of ranks divides, its batches, and a plain loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

from reproductions.paro.method.engine import Paro

ADAMW = partial(torch.optim.AdamW, lr=1e-2)

VOCABULARY, WIDTH, LENGTH = 7, 5, 3
SEQUENCES = 2
"""Of a micro-batch."""
TOLERANCE = 1e-12
"""In float64, where losses and weights are about 1: sums of some hundred terms, in another order,
differ by 1e-14, and Adam's eps of 1e-8 keeps gradients that are rounding alone from a step of
their own."""


class Block(nn.Module):
    """Attention of one head and two layers, added to what comes in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        # Without a bias: that of the keys has no gradient but rounding, which Adam makes large.
        self.mixed = nn.Linear(width, 3 * width, bias=False)
        self.up, self.down = nn.Linear(width, 2 * width + 1), nn.Linear(2 * width + 1, width)

    def forward(self, hidden: Tensor) -> Tensor:
        query, key, value = self.mixed(self.norm(hidden)).chunk(3, dim=-1)
        scores = (query @ key.mT) / query.shape[-1] ** 0.5
        hidden = hidden + scores.softmax(dim=-1) @ value
        out: Tensor = hidden + self.down(torch.tanh(self.up(hidden)))
        return out


class Net(nn.Module):
    """Predicts each token from all; embeddings and head are tied."""

    def __init__(self, dtype: torch.dtype = torch.float64) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block(WIDTH) for _ in range(2))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.embed.weight
        self.to(dtype)

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = self.embed(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        out: Tensor = self.head(hidden)
        return out


def micro_batch(step: int, micro_step: int, rank: int) -> Tensor:
    """Return tokens, (SEQUENCES, LENGTH), that no other micro-batch of a test has."""
    source = torch.Generator().manual_seed(1000 * step + 100 * micro_step + rank)
    return torch.randint(VOCABULARY, (SEQUENCES, LENGTH), generator=source)


def loss_of(net: nn.Module, tokens: Tensor) -> Tensor:
    """Return the mean loss of predicting each token's neighbour."""
    logits: Tensor = net(tokens)
    return functional.cross_entropy(logits.flatten(0, 1), tokens.roll(1, dims=1).flatten())


def freeze(net: nn.Module) -> None:
    """Train the layers of blocks alone: embeddings, attention and norms are frozen."""
    for name, param in net.named_parameters():
        param.requires_grad = "up" in name or "down" in name


def assert_near(found: Any, wanted: Any, where: object) -> None:
    """See that numbers are those of another order of sums."""
    one, other = (torch.as_tensor(each, dtype=torch.float64) for each in (found, wanted))
    torch.testing.assert_close(
        one, other, rtol=0.0, atol=TOLERANCE, msg=lambda told: f"{where}: {told}"
    )


def train(
    engine: Paro, steps: Iterable[int], *, micro_steps: int = 1,
    batch_of: Callable[[int, int, int], Tensor] = micro_batch,
    after: Callable[[], object] = lambda: None,
) -> list[float]:  # fmt: skip
    """Train on this rank's micro-batches; return its losses. after: what ends a step."""
    losses = []
    for step in steps:
        total = 0.0
        for k in range(micro_steps):
            loss = loss_of(engine.model, batch_of(step, k, dist.get_rank())) / micro_steps
            engine.backward(loss)
            total += loss.item()
        engine.step()
        after()
        losses.append(total)
    return losses
