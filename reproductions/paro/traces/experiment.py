"""A step by IIG and by NIG, and an all-gather in two layers, on ranks of gloo that note both."""

from __future__ import annotations

from functools import partial

from harness.declare import Estimate, Experiment, Needs, Params, doc
from reproductions.paro.models.grids import grid_of

DRAWN = ("IIG", "NIG")
"""Strategies of Figure 1."""


class Step(Params):
    """An optimizer step that is noted, after one that is not."""

    num_ranks: int = doc("Ranks, n.")
    group_size: int = doc("Ranks per group, m.")
    micro_steps: int = doc("Micro-batches of the step, s.")
    width: int = doc("Of the net's layers.")
    num_layers: int = doc("Of the net; each is a unit.")


class Gather(Params):
    """An all-gather of all ranks in two layers."""

    num_ranks: int = doc("Ranks, n.")
    group_size: int = doc("Ranks per group, m.")
    part_entries: int = doc("Numbers that each rank brings, in float32.")


STEP = Step(num_ranks=4, group_size=2, micro_steps=2, width=64, num_layers=2)
GATHERS = tuple(
    Gather(num_ranks=num_ranks, group_size=group_size, part_entries=1000)
    for num_ranks, group_size in ((4, 2), (6, 2), (6, 3))
)
_traced = partial(
    Experiment,
    version=1,
    seed_from=(),
    needs=Needs(memory_bytes=2 * 2**30),
    estimate=lambda point: Estimate(seconds=6.0, memory_bytes=2 * 2**30),
    stands_in=lambda point: {"A100 GPUs": "gloo ranks on a CPU"},
)
"""What both have alike."""
traced_steps = _traced(
    "paro/traced_step",
    params=Step,
    grid=grid_of([STEP]),
    run="trial:step_rows",
    address=("num_ranks",),
)
traced_gathers = _traced(
    "paro/traced_gather",
    params=Gather,
    grid=grid_of(GATHERS[:1], GATHERS),
    run="trial:gather_rows",
    address=("num_ranks", "group_size"),
)
