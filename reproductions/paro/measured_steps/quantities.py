"""What is asked of measured steps. Claims' functions take one seed's table; checks' the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import MissingRows, Scalar, pick
from reproductions.paro.measured_steps.experiment import BASELINES, OURS

if TYPE_CHECKING:
    import pandas as pd

TIED = 1.05
"""Predicted times that differ by less count as equal: the guideline does not tell them apart."""
Where = dict[str, Scalar]
RAIL: Where = {"nic": "rail"}
SHARED: Where = {"nic": "shared"}


def seconds(table: pd.DataFrame, name: str, where: Where) -> float:
    """Return the seconds of a setting's step."""
    rows = pick(table, setting=name, **where)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {name} where {where}: need one per seed")
    return float(rows["step_s"].iloc[0])


def speed_ratios(
    table: pd.DataFrame, *, pairs: Sequence[tuple[str, str]], at: Sequence[Where]
) -> list[float]:
    """Return the speed of the first of each pair over that of the second, in turn where told."""
    return [
        seconds(table, over, where) / seconds(table, one, where)
        for where in at
        for one, over in pairs
    ]


def rank_correlation(table: pd.DataFrame, *, where: Where = RAIL) -> float:
    """Return Spearman's rank correlation of predicted and measured times of the 14 strategies."""
    from scipy.stats import spearmanr

    rows = pick(table, **where).set_index("setting").reindex(OURS)
    if rows["step_s"].isna().any():
        raise MissingRows(f"a strategy has no row where {where}")
    return float(spearmanr(tied(list(rows["predicted_s"])), rows["step_s"]).statistic)


def tied(times: Sequence[float]) -> list[float]:
    """Return times with those that are near the least of their neighbours put equal to it.

    >>> tied([1.0, 2.0, 1.04, 2.2])
    [1.0, 2.0, 1.0, 2.2]
    """
    firsts: list[float] = []
    for time in sorted(times):
        if not firsts or time > TIED * firsts[-1]:
            firsts.append(time)
    return [max(first for first in firsts if first <= time) for time in times]


def samples(table: pd.DataFrame, name: str) -> pd.Series:
    """Return samples per second of a setting by micro-batches per step, ascending."""
    rows = pick(table, setting=name, question="accumulation")
    if rows.empty or rows["accumulation"].duplicated().any():
        raise MissingRows(f"{len(rows)} rows of {name}: need one per accumulation and seed")
    return rows.set_index("accumulation")["samples_per_s"].astype(float).sort_index()


def best_over_best(table: pd.DataFrame, *, one: str, over: str) -> float:
    """Return the largest samples per second of a setting over another's."""
    return float(samples(table, one).max() / samples(table, over).max())


def speedup(table: pd.DataFrame, name: str) -> float:
    """Return samples per second on most ranks over those on fewest, per rank."""
    rows = pick(table, setting=name, question="scaling").set_index("num_ranks")["samples_per_s"]
    if len(rows) < 2:
        raise MissingRows(f"{len(rows)} numbers of ranks with {name}: need two per seed")
    few, many = min(rows.index), max(rows.index)
    return float(rows[many] / rows[few] * few / many)


def speedups(table: pd.DataFrame) -> list[float]:
    """Return speed-up ratios of ZeRO (the better of ZeRO-2 and 3), NIG and IIG."""
    return [
        max(speedup(table, "NGG"), speedup(table, "GGG")),
        speedup(table, "NIG"),
        speedup(table, "IIG"),
    ]


def byte_errors(table: pd.DataFrame) -> list[float]:
    """Return by how much what the engine holds and what it sends are off the formula at most."""
    rows = table[~table["setting"].isin(BASELINES)]
    return [
        float((rows[f"{what}_bytes"] - rows[f"predicted_{what}_bytes"]).abs().max())
        for what in ("held", "between")
    ]
