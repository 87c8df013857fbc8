"""What claims on time measure, from one seed's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows, pick

if TYPE_CHECKING:
    import pandas as pd


def forward(table: pd.DataFrame, *, workers: int = 1) -> pd.DataFrame:
    """Return (FG)2U's rows by chunk, one per chunk, from the smallest."""
    rows = pick(table, method="fg2u", workers=workers).sort_values("chunk").set_index("chunk")
    if rows.index.has_duplicates:
        raise MissingRows("(FG)2U has several rows per chunk, need those of one seed")
    return rows


def seconds_at(table: pd.DataFrame, *chunks: int) -> list[float]:
    """Return the seconds of an estimate at these chunks, in one process."""
    times = forward(table)["median_s"]
    if missing := [chunk for chunk in chunks if chunk not in times.index]:
        raise MissingRows(f"(FG)2U was not timed at chunk {missing[0]}")
    return [float(times[chunk]) for chunk in chunks]


def chunked_over_single(table: pd.DataFrame, *, chunk: int = 16) -> tuple[float, float]:
    """Return seconds at a chunk and at 1: as many directions, so a ratio of those per direction."""
    large, single = seconds_at(table, chunk, 1)
    return large, single


def from_largest_chunk(table: pd.DataFrame) -> list[float]:
    """Return seconds from the largest chunk down to 1, claimed to ascend."""
    return [float(s) for s in forward(table)["median_s"][::-1]]


def last_doubling(table: pd.DataFrame) -> float:
    """Return which share of the time the last doubling of the chunk saves."""
    after, before, *_ = [*from_largest_chunk(table), None, None]
    if after is None or before is None:
        raise MissingRows("(FG)2U was timed at one chunk alone")
    return 1.0 - after / before


def speed_ups(table: pd.DataFrame, *, workers: int = 2) -> list[float]:
    """Return pairs of seconds, one process and several, chunk after chunk from the smallest."""
    alone, shared = forward(table)["median_s"], forward(table, workers=workers)["median_s"]
    chunks = [chunk for chunk in shared.index if chunk in alone.index]
    if not chunks:
        raise MissingRows(f"no chunk was timed with one process and with {workers}")
    return [float(each[chunk]) for chunk in chunks for each in (alone, shared)]


def at_memory_of(table: pd.DataFrame, *, method: str = "trgu") -> tuple[float, float]:
    """Return seconds of (FG)2U that holds no more than another method, and of that method.

    In one process, at the largest chunk that fits. Raises InvalidQuantity where none does.
    """
    other = pick(table, method=method)
    if len(other) != 1:
        raise MissingRows(f"{len(other)} rows of {method}, need one per seed")
    rows = forward(table)
    fitting = rows[rows["peak_bytes"] <= int(other["peak_bytes"].iloc[0])]
    if fitting.empty:
        raise InvalidQuantity(f"one direction at a time holds more than {method}")
    return float(fitting["median_s"].iloc[-1]), float(other["median_s"].iloc[0])
