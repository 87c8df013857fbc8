"""Processes that share the directions of an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from reproductions.fg2u.method.trees import Tree, tree_map


@dataclass(frozen=True, kw_only=True)
class Workers:
    """One of several processes, each with its part of the directions.

    All must see the same problem, phi, batch and state of the generator: directions are numbered
    over all of them, so that an estimate does not depend on how many there are.
    """

    rank: int = 0
    count: int = 1
    group: Any = None
    """Process group of torch.distributed; its default group without one."""

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


ONE = Workers()


def all_workers(group: Any = None) -> Workers:
    """Return this process's part of a group of torch.distributed, initialised before."""
    import torch.distributed as dist

    return Workers(rank=dist.get_rank(group), count=dist.get_world_size(group), group=group)
