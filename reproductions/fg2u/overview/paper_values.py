"""The paper's numbers for Figure 1's claims on time, from the points of its bottom right panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import pick

if TYPE_CHECKING:
    import pandas as pd


def chunked_over_single(reference: pd.DataFrame) -> float:
    """Return seconds at the most directions at a time over those at the fewest."""
    times = _seconds(reference)
    return float(times.iloc[-1] / times.iloc[0])


def least_speed_up(reference: pd.DataFrame) -> float:
    """Return how many times as fast two GPUs are, where they gain least."""
    return float((_seconds(reference) / _seconds(reference, gpus=2)).min())


def at_memory_of_trgu(reference: pd.DataFrame) -> float:
    """Return seconds of (FG)2U that holds no more than TRGU, over TRGU's."""
    (memory, seconds), *_ = _seconds(reference, method="trgu").items()
    return float(_seconds(reference)[:memory].iloc[-1] / seconds)


def _seconds(reference: pd.DataFrame, *, method: str = "fg2u", gpus: int = 1) -> pd.Series[float]:
    """Return the seconds of an outer step by GiB, from the least memory."""
    series = f"efficiency {method} gpus_{gpus}"
    rows = pick(reference, series=series, y_name="seconds_per_step")
    found: pd.Series[float] = rows.set_index("x")["value"].astype(float).sort_index()
    return found
