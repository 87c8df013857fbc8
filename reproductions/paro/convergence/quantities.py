"""What claims on losses measure."""

from __future__ import annotations

from collections.abc import Collection

from harness.declare import Frame, pick
from reproductions.paro.convergence.experiment import ALONE, FIGURE_7

TOLERANCES = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 2e-2}
"""Largest relative difference of a loss: summation order is all that differs, and Adam makes more
of it where gradients are near zero. That of bfloat16 is a choice of ours: while the loss falls
slowly, rounding grows from step to step."""


def last(table: Frame) -> Frame:
    """Return the last row of every run, which speaks of all of its steps."""
    return table[table["step"] == table["num_steps"]]


def largest_difference(table: Frame, **runs: str | int) -> float:
    """Return by how much any loss of any method differs from one process's, over that.

    runs: which ones, by their parameters.
    """
    rows = last(pick(table, **runs))
    return float(rows["largest_difference"].max())


def share_left(table: Frame, *, precision: str, micro_steps: int = 4) -> float:
    """Return the last loss of one process over its first: the most of any seed."""
    rows = pick(table, precision=precision, micro_steps=micro_steps, method=ALONE)
    losses = rows.sort_values("step").groupby("seed")["loss"]
    return float((losses.last() / losses.first()).max())


def largest_between(
    table: Frame,
    *,
    precision: str,
    methods: Collection[str] = FIGURE_7,
    micro_steps: int = 4,
) -> float:
    """Return by how much losses of methods differ at most from each other's of the same seed."""
    rows = pick(table, precision=precision, micro_steps=micro_steps)
    losses = rows[rows["method"].isin(methods)].groupby(["seed", "step"])["loss"]
    return float((losses.max() / losses.min() - 1.0).max())
