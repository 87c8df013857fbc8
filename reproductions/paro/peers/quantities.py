"""What the table of systems says of a strategy."""

from __future__ import annotations

from collections.abc import Collection

from harness.declare import Frame, pick
from reproductions.paro.method.strategy import is_coarser, strategy_of


def num_who_express(table: Frame, *, strategies: Collection[str]) -> float:
    """Return how many systems express one of some strategies, just so."""
    rows = table[table["strategy"].isin(strategies) & (table["expressed"] == "yes")]
    return float(rows["system"].nunique())


def off_the_rule(table: Frame, *, system: str, nearly: Collection[str]) -> float:
    """Return how many strategies break the rule of a system that splits gradients first.

    By it just those are expressed whose parameters are split no finer than their gradients.
    nearly: those among them that it expresses nearly, and not just so.
    """
    rows = pick(table, system=system)

    def by_rule(name: str) -> str:
        found = strategy_of(name)
        if is_coarser(found.grads, found.params):
            return "no"
        return "nearly" if name in nearly else "yes"

    return float((rows["expressed"] != rows["strategy"].map(by_rule)).sum())


def least_bytes_ratio(table: Frame) -> float:
    """Return the least bytes of a setting over those of the strategy it comes nearest to."""
    return float(pick(table, expressed="nearly")["bytes_ratio"].min())
