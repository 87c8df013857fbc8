"""From one granularity to another: what the schedule names, done to the states of some units.

States move together, so that their messages wait for each other once per hop and not in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from reproductions.paro.method.engine.state import FlatState
from reproductions.paro.method.schedule import SYNC_GRADS, Collective, reduce_per_micro_batch
from reproductions.paro.method.schedule import gather as gathers


def run(
    steps: Iterable[Collective], flats: Sequence[FlatState], buffers: list[Tensor], term: str
) -> list[Tensor]:
    """Run collectives one after another; return what this rank then has of each buffer."""
    for found in steps:
        layouts = [flat.layout for flat in flats]
        units = [flat.unit for flat in flats]
        buffers = flats[0].collectives.run(found, buffers, layouts, term=term, units=units)
    return buffers


@torch.no_grad()
def gather(flats: Sequence[FlatState]) -> None:
    """Make parameters whole for a pass."""
    split = [flat for flat in flats if flat.is_split]
    for flat in split:
        flat.allocate()
    if split:
        steps = gathers(split[0].strategy.params)
        run(steps, split, [flat.whole for flat in split], "param")


@torch.no_grad()
def reduce(flats: Sequence[FlatState], grads: Sequence[list[Tensor | None]]) -> None:
    """Add a micro-batch's gradients to what is kept, and let them go."""
    if not flats:
        return
    steps = list(reduce_per_micro_batch(flats[0].strategy.grads))
    packed = [flat.packed(g, flat.new_whole() if steps else flat.grads)
              for flat, g in zip(flats, grads, strict=True)]  # fmt: skip
    if steps:
        for flat, part in zip(flats, run(steps, flats, packed, "gradient"), strict=True):
            flat.grads += part


@torch.no_grad()
def sync_grads(flats: Sequence[FlatState]) -> None:
    """Give the optimizer the mean over ranks of the gradients that were kept.

    What was kept is spent. The one place where sums are divided by n.
    """
    strategy = flats[0].strategy
    steps = [Collective(kind=k, scope=s) for k, s in SYNC_GRADS[strategy.grads, strategy.states]]
    sums = run(steps, flats, [flat.grads for flat in flats], "sync_g")
    for flat, total in zip(flats, sums, strict=True):
        flat.master.grad = total.to(flat.master.dtype).div_(flat.layout.cluster.num_gpus)


@torch.no_grad()
def sync_params(flats: Sequence[FlatState]) -> None:
    """Bring what the optimizer changed to all who keep it."""
    for flat in flats:
        flat.publish()
    steps = gathers(flats[0].strategy.states, flats[0].strategy.params)
    run(steps, flats, [flat.own for flat in flats], "sync_p")
