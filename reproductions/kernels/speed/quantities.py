"""What is asked of times: shares of ceilings, and ratios of implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows
from reproductions.kernels.speed.experiment import TRITON

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def disagreeing(table: pd.DataFrame) -> int:
    """Return how many implementations gave other outputs than float64."""
    compared = table["agrees"].dropna()
    if compared.empty:
        raise MissingRows("no implementation was compared")
    return int((~compared.astype(bool)).sum())


def shares_of_copy(table: pd.DataFrame, *, places: Sequence[tuple[str, str]]) -> list[float]:
    """Return the rate of our kernel over that of a copy, by case and type."""
    return [
        _value(table, case, TRITON, "copy_us", precision)
        / _value(table, case, TRITON, "median_us", precision)
        for case, precision in places
    ]


def speed_up(table: pd.DataFrame, *, case: str, over: str) -> float:
    """Return how many times as fast ours is as another implementation, in float32."""
    return _value(table, case, over, "median_us") / _value(table, case, TRITON, "median_us")


def peak_over_output(table: pd.DataFrame, *, case: str) -> float:
    """Return the most memory of ours at once as a multiple of the bytes that a call writes."""
    rows = _rows(table, case, TRITON)
    return float((rows["peak_bytes"] / rows["bytes"]).max())


def beside_libraries(
    table: pd.DataFrame, *, case: str, libraries: tuple[str, ...], column: str
) -> float:
    """Return a column of ours over that of the library whose value is least, in bfloat16."""
    ran = set(table.dropna(subset=[column])["implementation"])
    if lacking := [name for name in libraries if name not in ran]:
        raise MissingRows(f"{', '.join(lacking)} did not run at {case}")
    found = [_value(table, case, name, column, "bfloat16") for name in libraries]
    return _value(table, case, TRITON, column, "bfloat16") / min(found)


def _rows(table: pd.DataFrame, case: str, name: str) -> pd.DataFrame:
    rows = table[(table["case"] == case) & (table["implementation"] == name)]
    if rows.empty:
        raise MissingRows(f"no row of {name} at {case}")
    return rows


def _value(
    table: pd.DataFrame, case: str, name: str, column: str, precision: str = "float32"
) -> float:
    rows = _rows(table, case, name)
    rows = rows[rows["precision"] == precision]
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {name} at {case} in {precision}, need one per seed")
    found = float(rows[column].iloc[0])
    if not found > 0:
        raise InvalidQuantity(f"{column} of {name} at {case} is {found}")
    return found
