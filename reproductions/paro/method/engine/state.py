"""Parameters, gradients and optimizer states of a unit, each split as the strategy says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from reproductions.paro.method.engine.collectives import Collectives
from reproductions.paro.method.engine.layout import Layout
from reproductions.paro.method.schedule import gather
from reproductions.paro.method.strategy import Granularity, Strategy


@dataclass(frozen=True, kw_only=True, slots=True)
class Precision:
    """Types of numbers in training."""

    param_dtype: torch.dtype | None = None
    """Of the passes and of gathers; None: the model's own, which the optimizer then steps itself.
    Where it is another, the optimizer has a copy of its part in the model's own type."""
    reduce_dtype: torch.dtype | None = None
    """In which gradients are kept and summed; None: that of the passes."""


class FlatState:
    """Parameters of one type, all trained or all frozen, as one flat buffer in n blocks.

    A rank keeps its part of the parameters at the first letter's granularity; where they are
    trained its part of the sum of gradients at the second's, and what the optimizer steps at the
    third's: a view into its parameters, or a copy in higher precision. The whole buffer is there
    only where it is that part, or from `allocate` to `free`.
    """

    def __init__(
        self,
        params: Mapping[str, nn.Parameter],
        *,
        unit: str,
        strategy: Strategy,
        collectives: Collectives,
        precision: Precision,
        options: Mapping[str, Any],
    ) -> None:
        """params: by name, of one type and one `requires_grad`; they become views of the buffer.

        unit: whose they are, by name; options: of their optimizer group.
        Rank 0's values are everybody's.
        """
        self.params, self.unit, self.options = dict(params), unit, dict(options)
        self.strategy, self.collectives = strategy, collectives
        self.rank = collectives.groups.rank
        first = next(iter(self.params.values()))
        self.is_trained = first.requires_grad
        num_entries = sum(param.numel() for param in self.params.values())
        self.layout = Layout(num_entries, collectives.groups.cluster)

        values = first.new_zeros(self.layout.padded, requires_grad=False)
        for view, param in zip(self.views(values), self.params.values(), strict=True):
            view.copy_(param.detach())
        dist.broadcast(values, src=0)
        wanted = precision.param_dtype if values.is_floating_point() else None
        self.whole = values.to(wanted or values.dtype)
        self.is_split = strategy.params != "N"
        """Whether parameters must be gathered for a pass, and are let go after it."""
        self.own = self.whole[self.span(strategy.params)].clone() if self.is_split else self.whole
        self.show()
        self.free()
        if self.is_trained:
            self._prepare_training(values, precision.reduce_dtype or self.whole.dtype)

    def _prepare_training(self, values: Tensor, reduce_dtype: torch.dtype) -> None:
        grads = self.layout.span(self.strategy.grads, self.rank)
        self.grads = values.new_zeros(grads.stop - grads.start, dtype=reduce_dtype)
        mine = self.own[self.layout.inner(self.strategy.params, self.strategy.states, self.rank)]
        self.published: Tensor | None = None
        """Where the optimizer's part goes after a step, if it is a copy."""
        if values.dtype != mine.dtype:
            self.published = mine
            mine = values[self.span(self.strategy.states)].clone()
        self.master = nn.Parameter(mine)

    def span(self, granularity: Granularity) -> slice:
        """Return the entries that this rank holds at a granularity."""
        return self.layout.span(granularity, self.rank)

    def views(self, flat: Tensor) -> list[Tensor]:
        """Return the parameters' places in a whole buffer, padded or not."""
        params = list(self.params.values())
        sizes = [param.numel() for param in params]
        parts = torch.split(flat[: sum(sizes)], sizes)
        return [part.view(p.shape) for part, p in zip(parts, params, strict=True)]

    def allocate(self) -> None:
        """Make room for the whole, with this rank's part in its place."""
        self.whole.untyped_storage().resize_(self.layout.padded * self.whole.itemsize)
        self.whole[self.span(self.strategy.params)] = self.own

    def show(self) -> None:
        """Let parameters be views of the whole, which is there."""
        for view, param in zip(self.views(self.whole), self.params.values(), strict=True):
            param.data = view

    def free(self) -> None:
        """Let the whole go where a part is kept; autograd finds it again after `allocate`.

        Who reads a parameter meanwhile reads NaN, where views of freed memory would end the
        process.
        """
        if self.is_split:
            self.whole.untyped_storage().resize_(0)
            unknown = unknown_number(self.own.dtype, self.own.device)
            for param in self.params.values():
                param.data = unknown.expand(param.shape)

    def take_grads(self) -> list[Tensor | None]:
        """Return this micro-batch's gradients, None for a parameter that it did not reach."""
        found = [param.grad for param in self.params.values()]
        for param in self.params.values():
            param.grad = None
        return found

    def new_whole(self) -> Tensor:
        """Return zeros for all gradients of a micro-batch."""
        return self.grads.new_zeros(self.layout.padded)

    def packed(self, grads: list[Tensor | None], into: Tensor) -> Tensor:
        """Add gradients, None for zeros, to a whole buffer and let them go; return the buffer."""
        for view, grad in zip(self.views(into), grads, strict=True):
            if grad is not None:
                view.add_(grad)
        grads.clear()
        return into

    def publish(self) -> None:
        """Put what the optimizer stepped among the parameters, where it is a copy."""
        if self.published is not None:
            self.published.copy_(self.master)

    def clear(self) -> None:
        """Forget gradients."""
        self.master.grad = None
        self.grads.zero_()

    @torch.no_grad()
    def gathered(self, part: Tensor, granularity: Granularity) -> Tensor:
        """Return a state of all ranks from each one's part of it, without padding."""
        whole = part.new_empty(self.layout.padded)
        whole[self.span(granularity)] = part
        for found in gather(granularity):
            self.collectives.run(found, [whole], [self.layout], term="state_dict")
        return whole[: self.layout.num_entries]


def join_grads(flats: Sequence[FlatState]) -> None:
    """Let gradients that are kept of several units lie behind one another: one sum takes all."""
    for dtype in dict.fromkeys(flat.grads.dtype for flat in flats):
        alike = [flat for flat in flats if flat.grads.dtype == dtype]
        sizes = [flat.grads.numel() for flat in alike]
        together = torch.split(alike[0].grads.new_zeros(sum(sizes)), sizes)
        for flat, part in zip(alike, together, strict=True):
            flat.grads = part


@cache
def unknown_number(dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return what stands for every number that is elsewhere."""
    return torch.full(
        (), float("nan") if dtype.is_floating_point else 0, dtype=dtype, device=device
    )
