"""A step by IIG and by NIG, and an all-gather in two layers, on ranks of gloo that note both."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc

DRAWN = ("IIG", "NIG")
"""Strategies of Figure 1."""
EACH = Needs(memory_bytes=2 * 2**30)
STANDS_IN = {"A100 GPUs": "gloo ranks on a CPU"}
STARTS = Estimate(seconds=6.0, memory_bytes=2 * 2**30)


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


def step_grid(profile: Profile) -> Iterator[Step]:
    """Yield the figure's four ranks in two groups."""
    if profile in ("smoke", "cpu"):
        yield Step(num_ranks=4, group_size=2, micro_steps=2, width=64, num_layers=2)


def gather_grid(profile: Profile) -> Iterator[Gather]:
    """Yield four ranks in two groups, and six in three and in two at `cpu`."""
    if profile in ("smoke", "cpu"):
        yield Gather(num_ranks=4, group_size=2, part_entries=1000)
    if profile == "cpu":
        yield Gather(num_ranks=6, group_size=2, part_entries=1000)
        yield Gather(num_ranks=6, group_size=3, part_entries=1000)


traced_steps = Experiment(
    "paro/traced_step",
    version=1,
    params=Step,
    grid=step_grid,
    run="trial:step_rows",
    seed_from=(),
    needs=EACH,
    estimate=lambda step: STARTS,
    address=("num_ranks",),
    stands_in=lambda step: STANDS_IN,
)
traced_gathers = Experiment(
    "paro/traced_gather",
    version=1,
    params=Gather,
    grid=gather_grid,
    run="trial:gather_rows",
    seed_from=(),
    needs=EACH,
    estimate=lambda gather: STARTS,
    address=("num_ranks", "group_size"),
    stands_in=lambda gather: STANDS_IN,
)
