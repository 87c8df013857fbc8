"""What Figure 1's checks and claims measure: flags, and from one seed's rows times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.declare import Frame, InvalidQuantity, MissingRows, Series, pick

Timed = Callable[[Frame], Any]
"""A quantity of rows that were timed."""

MAX_GROWTH = 1.05
"""Growth of live bytes from 8 to 64 inner steps above which memory is not constant. The paper's own
(FG)2U grows 1.065 times from 24 to 48."""
EXACT = 1e-10
"""Relative distance, in float64, below which a mean estimate is the gradient."""
STATED = {
    "rgu": (False, True, True),
    "neumann": (True, False, True),
    "trgu": (True, True, True),
    "hessian-free": (True, True, True),
    "fg2u": (True, True, True),
}
"""Figure 1, top left, for the methods that are built here: whether memory is constant, no
inverse of the Hessian is taken, inner steps may be stochastic. rgu is its gradient unrolling,
neumann its implicit function; its value function is in none of its experiments nor here."""


def flags(table: Frame) -> dict[str, tuple[bool, bool, bool]]:
    """Return what was measured, per method, in the order of `STATED`."""
    rows = pick(table, panel="capability").set_index("method")
    return {
        str(method): (
            bool(row["memory_growth"] <= MAX_GROWTH),
            bool(row["num_hvps"] == 0),
            bool(row["takes_minibatches"]),
        )
        for method, row in rows.iterrows()
    }


def num_other_flags(table: Frame) -> int:
    """Return how many flags are not as Figure 1 states them, or are not there."""
    found = flags(table)
    return sum(
        sum(ours != its for ours, its in zip(found[method], stated, strict=True))
        if method in found
        else len(stated)
        for method, stated in STATED.items()
    )


def forward(table: Frame, *, workers: int = 1) -> Frame:
    """Return (FG)2U's rows by chunk, one per chunk, from the smallest."""
    rows = pick(table, method="fg2u", workers=workers).sort_values("chunk").set_index("chunk")
    if rows.index.has_duplicates:
        raise MissingRows("(FG)2U has several rows per chunk, need those of one seed")
    return rows


def chunked_over_single(table: Frame) -> tuple[float, float]:
    """Return seconds with 16 at a time and with 1: as many directions, so also of each."""
    times = forward(table)["median_s"]
    if missing := [chunk for chunk in (16, 1) if chunk not in times.index]:
        raise MissingRows(f"(FG)2U was not timed at chunk {missing[0]}")
    return float(times[16]), float(times[1])


def from_largest_chunk(table: Frame) -> list[float]:
    """Return seconds from the largest chunk down to 1, claimed to ascend."""
    return [float(s) for s in forward(table)["median_s"][::-1]]


def speed_ups(table: Frame) -> list[float]:
    """Return pairs of seconds, one process and two, chunk after chunk from the smallest."""
    alone, shared = forward(table)["median_s"], forward(table, workers=2)["median_s"]
    return [float(each[chunk]) for chunk in shared.index for each in (alone, shared)]


def at_memory_of(table: Frame) -> tuple[float, float]:
    """Return seconds of (FG)2U that holds no more than TRGU, and of TRGU.

    In one process, at the largest chunk that fits. Raises InvalidQuantity where none does.
    """
    other = pick(table, method="trgu")
    if len(other) != 1:
        raise MissingRows(f"{len(other)} rows of trgu, need one per seed")
    rows = forward(table)
    fitting = rows[rows["peak_bytes"] <= int(other["peak_bytes"].iloc[0])]
    if fitting.empty:
        raise InvalidQuantity("one direction at a time holds more than trgu")
    return float(fitting["median_s"].iloc[-1]), float(other["median_s"].iloc[0])


def spread(table: Frame) -> float:
    """Return how far apart a fifth of the slowest and of the fastest plain unrolls are, of the
    median."""
    rows = pick(table, method="plain")
    return float(((rows["p80_s"] - rows["p20_s"]) / rows["median_s"]).mean())


def timed(table: Frame, *, quantity: Timed) -> Any:
    """Return a quantity of the panel of times."""
    return quantity(pick(table, panel="efficiency"))


def papers_chunked_over_single(reference: Frame) -> float:
    """Return seconds at the most directions at a time over those at the fewest."""
    times = _papers_seconds(reference)
    return float(times.iloc[-1] / times.iloc[0])


def papers_least_speed_up(reference: Frame) -> float:
    """Return how many times as fast two GPUs are, where they gain least."""
    return float((_papers_seconds(reference) / _papers_seconds(reference, gpus=2)).min())


def papers_at_memory_of_trgu(reference: Frame) -> float:
    """Return seconds of (FG)2U that holds no more than TRGU, over TRGU's."""
    (memory, seconds), *_ = _papers_seconds(reference, method="trgu").items()
    return float(_papers_seconds(reference)[:memory].iloc[-1] / seconds)


def _papers_seconds(reference: Frame, *, method: str = "fg2u", gpus: int = 1) -> Series:
    """Return the seconds of an outer step by GiB, from the least memory."""
    series = f"efficiency {method} gpus_{gpus}"
    rows = pick(reference, series=series, y_name="seconds_per_step")
    found: Series = rows.set_index("x")["value"].astype(float).sort_index()
    return found
