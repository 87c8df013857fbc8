"""Processes that share the directions of an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.fg2u.method.trees import Tree, tree_map


@dataclass(frozen=True, kw_only=True)
class Workers:
    """One of several processes, each with its part of the directions.

    All must see the same problem, phi and batch. Directions are numbered over all of them and drawn
    by the first one's generator, so that an estimate does not depend on how many there are.
    """

    rank: int = 0
    count: int = 1
    group: Any = None
    """Process group of torch.distributed; its default group without one."""

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.count:
            raise SpecError(f"rank={self.rank} of count={self.count} workers: ranks are from 0")

    def agreed(self, seed: int, device: torch.device) -> int:
        """Return the first process's seed; device: one that the group can send from."""
        if self.count == 1:
            return seed
        import torch.distributed as dist

        told = torch.tensor(seed, device=device)
        first = dist.get_global_rank(self.group, 0) if self.group is not None else 0
        dist.broadcast(told, src=first, group=self.group)
        return int(told)

    def check_agreed(self, value: Tensor) -> None:
        """Raise SpecError, on every process, where they do not see the same problem.

        value: h(phi), which each has computed; it differs by rounding at most.
        """
        if self.count == 1:
            return
        import torch.distributed as dist

        ends = torch.stack([value, -value])
        dist.all_reduce(ends, op=dist.ReduceOp.MAX, group=self.group)
        high, low = float(ends[0]), -float(ends[1])
        if high - low > 1e-3 * max(abs(high), abs(low)):
            raise SpecError(
                f"workers see outer losses from {low:.6g} to {high:.6g}: give all of them the same"
                " problem, phi and batch, for they share directions and not data"
            )

    def own(self, num_directions: int) -> range:
        """Return the numbers of this process's directions."""
        each, more = divmod(num_directions, self.count)
        start = self.rank * each + min(self.rank, more)
        return range(start, start + each + (self.rank < more))

    def summed(self, tree: Tree) -> Tree:
        """Return the sum over all processes."""
        if self.count == 1:
            return tree
        import torch.distributed as dist

        def over_all(leaf: Tensor) -> Tensor:
            total = leaf.clone()
            dist.all_reduce(total, group=self.group)
            return total

        return tree_map(over_all, tree)


@dataclass(frozen=True, kw_only=True)
class Part(Workers):
    """A worker that keeps its part of the sum: to count what it holds, or to add parts up later."""

    def agreed(self, seed: int, device: torch.device) -> int:
        return seed

    def check_agreed(self, value: Tensor) -> None:
        pass

    def summed(self, tree: Tree) -> Tree:
        return tree


ONE = Workers()


def all_workers(group: Any = None) -> Workers:
    """Return this process's part of a group of torch.distributed, initialised before."""
    import torch.distributed as dist

    return Workers(rank=dist.get_rank(group), count=dist.get_world_size(group), group=group)
