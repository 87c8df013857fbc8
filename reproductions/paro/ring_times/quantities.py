"""What claims on the time of an all-gather measure. Nothing of it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from harness.declare import Frame, MissingRows, pick

SLOWER_FIRST = ("sequential", "two_step", "row_pipeline")


def times(table: Frame, *algorithms: str) -> Frame:
    """Return milliseconds by setting. Raises MissingRows where an algorithm has no row."""
    setting = ["num_gpus", "nic", "size", "links"]
    found = table.pivot(index=setting, columns="algorithm", values="time_ms").astype(float)
    if lacking := sorted({*algorithms} - {*found.columns}):
        raise MissingRows(f"no row of {', '.join(lacking)}")
    return found


def unlike_flat(table: Frame) -> float:
    """Return the largest relative difference of phases in turn from one ring, at B' = B."""
    found = times(pick(table, nic="rail", links="equal"), "flat", "sequential")
    return float((found["sequential"] / found["flat"] - 1).abs().max())


def least_step(table: Frame) -> float:
    """Return by how little one way of PaRO-CC is ahead of the next slower one, in ms."""
    found = times(table, *SLOWER_FIRST)
    return float(min((found[a] - found[b]).min() for a, b in pairwise(SLOWER_FIRST)))


def further_saved(table: Frame, *, settings: Sequence[tuple[str, str]]) -> list[float]:
    """Return how much more two steps save over one ring on each next number of GPUs.

    settings: pairs of links and size, one after the other.
    """
    steps: list[float] = []
    for nic, size in settings:
        rows = pick(table, nic=nic, size=size, links="paper", algorithm="two_step")
        saved = rows.sort_values("num_gpus")["saved_ms"].astype(float)
        steps += (after - before for before, after in pairwise(saved))
    return steps
