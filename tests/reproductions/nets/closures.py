"""Modules whose forward pass goes through functions that hold on to them or to their weights."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn


class Closed(nn.Module):
    """It calls functions that were made over the module: a copy of it calls the first one's."""

    def __init__(self, num_in: int = 4, num_out: int = 3) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(num_in, 5), nn.Linear(5, num_out)
        self.steps: list[Callable[[Tensor], Tensor]] = [
            lambda x: self.first(x.flatten(1)).relu(), lambda x: self.last(x)
        ]  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        for step in self.steps:
            x = step(x)
        return x


class Captured(Closed):
    """It holds on to one weight, and reaches the others through itself."""

    def __init__(self, num_in: int = 4, num_out: int = 3) -> None:
        super().__init__(num_in, num_out)
        weight = self.last.weight
        self.steps = [lambda x: x @ weight.T]

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(self.first(x.flatten(1)).relu())


class Bound(Closed):
    """It holds its own methods, which a copy takes along: all is as it should be."""

    def __init__(self, num_in: int = 4, num_out: int = 3) -> None:
        super().__init__(num_in, num_out)
        self.steps = [self.hidden, self.last]

    def hidden(self, x: Tensor) -> Tensor:
        return self.first(x.flatten(1)).relu()


def seeded(kind: type[Closed], num_in: int = 4, num_out: int = 3) -> Closed:
    """Return one of these nets, its weights drawn from a seed of their own."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return kind(num_in, num_out)
