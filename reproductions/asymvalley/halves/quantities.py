"""What the claims on two halves measure, each a number from the table of Figure 11.

Every function takes the table of one seed, unless it says "whole table". A is the net at x = 0.
No torch, no pandas at import.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.declare import Frame, MissingRows, pick
from reproductions.asymvalley.models.curves import ON_GRID, spearman

FIRST_EPOCH = 5
"""From here on the signs of both nets are compared: before, they have hardly moved."""


def epochs(table: Frame, *, regime: str) -> Frame:
    """Return the rows of a regime, one per epoch, indexed by it, ascending."""
    return pick(table, part="epoch", regime=regime).set_index("epoch").sort_index()


def last_accuracies(table: Frame, *, bounds: Mapping[str, float]) -> list[float]:
    """Return the mean accuracy of both nets after the last epoch less its bound, by regime."""
    last = {regime: epochs(table, regime=regime).iloc[-1] for regime in bounds}
    return [
        float(rows["accuracy_a"] + rows["accuracy_b"]) / 2.0 - bounds[regime]
        for regime, rows in last.items()
    ]


def last_gap(table: Frame, *, regime: str) -> float:
    """Return accuracy(midpoint) - mean accuracy of both ends, after the last epoch."""
    return float(epochs(table, regime=regime)["gap"].iloc[-1])


def late_ssr(table: Frame, *, regime: str) -> list[float]:
    """Return the same-sign ratio of A and B at each epoch from `FIRST_EPOCH` on."""
    ratios = epochs(table, regime=regime)["ssr_ab"]
    late = [float(ratio) for ratio in ratios[ratios.index >= FIRST_EPOCH]]
    if not late:
        raise MissingRows(f"the regime {regime} has no epoch from {FIRST_EPOCH} on")
    return late


def gap_follows_ssr(table: Frame, *, regime: str) -> float:
    """Return Spearman's correlation of gap and SSR-AB over the epochs of a regime.

    Not of both at once: two clusters correlate, whatever happens inside each.
    """
    rows = epochs(table, regime=regime)
    return spearman([float(gap) for gap in rows["gap"]], [float(one) for one in rows["ssr_ab"]])


def farthest_end(table: Frame) -> float:
    """Return the largest difference of a line's ends and middle from the nets' own; whole table.

    Raises MissingRows where a line, or an epoch beside it, is missing.
    """
    keys = ["regime", "seed", "epoch"]
    own, lines = (table[table["part"] == part].set_index(keys) for part in ("epoch", "line"))
    farthest = []
    for place, column in ((0.0, "accuracy_a"), (0.5, "accuracy_mid"), (1.0, "accuracy_b")):
        there = lines.loc[(lines["x"] - place).abs() < ON_GRID, "accuracy"]
        farthest.append(float((there - own[column]).abs().max(skipna=False)))
    if any(map(math.isnan, farthest)):
        raise MissingRows("the table lacks a line between two nets, or an end of it")
    return max(farthest)
