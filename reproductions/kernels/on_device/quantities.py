"""What is asked of kernels on a device: that nothing of it went wrong, and all of it was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import MissingRows
from reproductions.kernels.on_device.experiment import FAULT

if TYPE_CHECKING:
    import pandas as pd

TAKEN = {"cpu": "plain", "cuda": "triton"}
"""What methods are given on a device."""


def wrong(table: pd.DataFrame) -> int:
    """Return how many calls gave other outputs than float64."""
    return _failed(table, "agrees")


def unlike(table: pd.DataFrame) -> int:
    """Return how many calls gave other bits when they were made again."""
    return _failed(table, "repeats")


def touched(table: pd.DataFrame) -> int:
    """Return how many bytes round inputs were written to."""
    return _told(int(table["stray_bytes"].sum()), table)


def otherwise_chosen(table: pd.DataFrame) -> int:
    """Return how many calls a device's methods would be given another backend for."""
    return _told(int((table["chosen"] != table["device"].map(TAKEN)).sum()), table)


def found_by(table: pd.DataFrame, *, checker: str) -> int:
    """Return how many errors a checker found in our kernels; it must find the fault on purpose."""
    rows = table[table["checker"] == checker]
    if rows.empty:
        raise MissingRows(f"{checker} watches kernels on a GPU alone")
    on_purpose = rows["kernel"] == FAULT
    num_errors = _told(int(rows[~on_purpose]["num_errors"].sum()), rows)
    if not num_errors and not rows[on_purpose]["num_errors"].sum():
        raise MissingRows(f"{checker} does not find {FAULT}: that it finds nothing says nothing")
    return num_errors


def _failed(table: pd.DataFrame, column: str) -> int:
    return _told(int((~table[column].dropna().astype(bool)).sum()), table)


def _told(number: int, rows: pd.DataFrame) -> int:
    """Return a number of faults; of none only where nothing was left out."""
    missing = rows["missing"].fillna("")
    if number == 0 and (missing != "").any():
        why = missing[missing != ""].iloc[0]
        raise MissingRows(f"{(missing != '').sum()} of {len(rows)} were not done: {why}")
    return number
