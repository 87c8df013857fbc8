"""What claims on predictions measure. Nothing of it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.declare import MissingRows, Scalar, pick
from reproductions.paro.predictions.experiment import MICRO_BATCH

if TYPE_CHECKING:
    import pandas as pd

MEMORY_ORDERS = (("NGG", "NIG", "NNG"), ("GGG", "IIG", "NNG"), ("IIG", "NGG"))
"""From less to more, as the text on IIG and NIG has it."""
SPEED_ORDERS = (("GGG", "IGG", "IIG"), ("IGG", "NIG"), ("NGG", "NIG"))
"""From slower to faster (section 4.5)."""
Where = dict[str, Scalar]


def _by_setting(table: pd.DataFrame, column: str, *names: str) -> pd.DataFrame:
    """Return a column by setting, with a column of each strategy named.

    Raises MissingRows where one has no row.
    """
    setting = ["model", "trainable", "num_gpus", "micro_batch", "accumulation", "world"]
    found = table.pivot(index=setting, columns="strategy", values=column).astype(float)
    if lacking := sorted({*names} - {*found.columns}):
        raise MissingRows(f"no row of {', '.join(lacking)}")
    return found[list(names)]


def _named(orders: Sequence[Sequence[str]]) -> list[str]:
    return sorted({name for order in orders for name in order})


def _of(table: pd.DataFrame, name: str, column: str, where: Where) -> float:
    rows = pick(table, strategy=name, **where)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {name} where {where}: need one")
    return float(rows[column].iloc[0])


def speed_ratio(table: pd.DataFrame, *, one: str, over: str, where: Where) -> float:
    """Return the speed of a strategy over another's, by communication alone."""
    return _of(table, over, "comm_s", where) / _of(table, one, "comm_s", where)


def steps_per_s(table: pd.DataFrame, *, names: Sequence[str], where: Where) -> list[float]:
    """Return 1/T of some strategies."""
    return [1.0 / _of(table, name, "comm_s", where) for name in names]


def least_memory_step(table: pd.DataFrame) -> float:
    """Return the least step of the paper's orders of memory, in any setting."""
    bytes_of = _by_setting(table, "memory_bytes", *_named(MEMORY_ORDERS))
    steps = [bytes_of[b] - bytes_of[a] for order in MEMORY_ORDERS for a, b in pairwise(order)]
    return float(min(step.min() for step in steps))


def memory_saved(table: pd.DataFrame, *, one: str, over: str) -> float:
    """Return by how many bytes a strategy holds less than another, where that is least."""
    bytes_of = _by_setting(table, "memory_bytes", one, over)
    return float((bytes_of[over] - bytes_of[one]).min())


def largest_tie_error(table: pd.DataFrame, *, one: str, other: str) -> float:
    """Return the largest relative difference of two strategies' t_comm, over settings."""
    comm = _by_setting(table, "comm_s", one, other)
    return float((comm[one] / comm[other] - 1).abs().max())


def named_among_best(table: pd.DataFrame, *, named: Sequence[str], where: Where) -> int:
    """Return how many of the named strategies are among as many that rank first."""
    rows = pick(table, **where).dropna(subset=["rank"])
    if rows.empty:
        raise MissingRows(f"no strategy has a rank where {where}")
    best = set(rows.loc[rows["rank"] <= len(named), "strategy"])
    return len(best & set(named))


def rank_of(table: pd.DataFrame, *, name: str, where: Where) -> float:
    """Return a strategy's place among those that fit."""
    return _of(table, name, "rank", where)


def unlike_fits(
    table: pd.DataFrame, *, fitting: Sequence[str], among: Sequence[str], where: Where
) -> int:
    """Return of how many strategies it is otherwise whether they fit."""
    rows = pick(table, **where)
    rows = rows[rows["strategy"].isin(among)]
    if len(rows) < len(among):
        raise MissingRows(f"only {len(rows)} of {len(among)} strategies have a row")
    return int((rows["strategy"].isin(fitting) != rows["fits"].astype(bool)).sum())


def least_speed_ratio(table: pd.DataFrame, *, world: str, accumulation: int) -> float:
    """Return the least ratio of speeds in the paper's orders, over numbers of GPUs."""
    comm = _by_setting(
        pick(table, world=world, accumulation=accumulation), "comm_s", *_named(SPEED_ORDERS)
    )
    ratios = [comm[a] / comm[b] for order in SPEED_ORDERS for a, b in pairwise(order)]
    return float(min(ratio.min() for ratio in ratios))


def wrong_signs(table: pd.DataFrame) -> int:
    """Return in how many settings IIG against NIG is not as the sign of Z - 2 s Y - X says.

    Counts also 1 for each sign that never occurs, for then the sign says nothing.
    """
    flat = pick(table, world="flat")
    comm = _by_setting(flat, "comm_s", "IIG", "NIG")
    sync_p = _by_setting(flat, "sync_p_s", "IIG")
    gradient = _by_setting(flat, "gradient_s", "IIG", "NGG")
    times = comm.index.get_level_values("accumulation")
    margin = gradient["NGG"] - 2 * times * gradient["IIG"] - sync_p["IIG"]
    faster = comm["IIG"] < comm["NIG"]
    unseen = 2 - faster.nunique()
    return int((faster != (margin > 0)).sum()) + int(unseen)


def _fixed_batch(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return samples per second by accumulation at the paper's micro-batch, flat."""
    rows = pick(table, world="flat", micro_batch=MICRO_BATCH)
    return _by_setting(rows, "samples_per_s_at_most", *names).sort_index(level="accumulation")


def least_rise(table: pd.DataFrame, *, names: Sequence[str]) -> float:
    """Return by which factor samples per second rise at least with the next accumulation."""
    samples = _fixed_batch(table, *names)
    return float((samples / samples.shift()).min().min())


def least_ratio_rise(table: pd.DataFrame, *, one: str, over: str) -> float:
    """Return the least step of a ratio of speeds with the next accumulation, as a factor."""
    samples = _fixed_batch(table, one, over)
    ratio = samples[one] / samples[over]
    return float((ratio / ratio.shift()).min())


def helped_more(
    table: pd.DataFrame,
    *,
    one: str,
    than: str,
    splits: Sequence[tuple[int, int]],
) -> float:
    """Return how much more a larger micro-batch helps one strategy, at one batch per GPU.

    It is a ratio of speed-ups, the least over neighbours of `splits`: (micro-batch, accumulation)
    in any order.
    """
    ordered = sorted(splits)

    def speed_up(name: str, small: tuple[int, int], large: tuple[int, int]) -> float:
        before, after = (
            _of(
                table,
                name,
                "samples_per_s_at_most",
                {"world": "flat", "micro_batch": batch, "accumulation": times},
            )
            for batch, times in (small, large)
        )
        return after / before

    return min(speed_up(one, a, b) / speed_up(than, a, b) for a, b in pairwise(ordered))


def best_over_best(table: pd.DataFrame, *, one: str, over: str) -> float:
    """Return the largest samples per second of a strategy over those of another."""
    rows = pick(table, world="flat")
    best = rows.groupby("strategy")["samples_per_s_at_most"].max()
    if not {one, over} <= set(best.index):
        raise MissingRows(f"no rows of {one} and {over}")
    return float(best[one] / best[over])


def attained(table: pd.DataFrame, *, where: Where) -> float:
    """Return by how much the formulas miss a quoted ratio at the time found for it (largest).

    Not a number where no time gives it.
    """
    rows = pick(table, **where)
    return float((rows["ratio_at_compute"] / rows["quoted_ratio"] - 1).abs().max(skipna=False))


def predicted_in_quoted_order(table: pd.DataFrame) -> list[float]:
    """Return ratios by communication alone of gains over ZeRO-3, from the least quoted gain."""
    rows = pick(table, baseline="GGG", reading="more", world="flat", assembly="max")
    return [float(each) for each in rows.sort_values("quoted_percent")["comm_ratio"]]
