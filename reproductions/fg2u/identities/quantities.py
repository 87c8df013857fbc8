"""What the checks are about: numbers of the whole table. No torch, no pandas at import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, pick

if TYPE_CHECKING:
    import pandas as pd


def largest(table: pd.DataFrame, *, check: str, value: str = "difference") -> float:
    """Return the largest value over all rows of a check."""
    return max(_values(table, check, value))


def one_direction(table: pd.DataFrame) -> float:
    """Return the FLOPs of one direction over those of the plain unroll."""
    return max(_values(table, "forward_flops", "ratio", x=1.0))


def chunk_flops(table: pd.DataFrame) -> float:
    """Return the largest share of 1 + 2 c unrolls that c directions at a time take."""
    rows = pick(table, check="forward_flops")
    return max(
        float(ratio) / (1.0 + 2.0 * x) for x, ratio in zip(rows["x"], rows["ratio"], strict=True)
    )


def _values(table: pd.DataFrame, check: str, value: str, **also: float) -> list[float]:
    """Return the values of a check's rows. Raises InvalidQuantity where one is missing."""
    found = pick(table, check=check, **also)[value]
    if found.isna().any():
        raise InvalidQuantity(f"a row of {check} has no {value}")
    return [float(each) for each in found]
