"""What the paper states: looked up in its reference rows, or read for a claim's threshold.

No pandas at import: the thresholds of tables 3 and 4 are read when their tasks are declared.
"""

from __future__ import annotations

import csv
import functools
import io
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from harness.declare.reference import published
from harness.untrusted import read_text

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
"""In the columns `scheme` and `density` of settings: one value for all of them."""
LR_DECAYS = {"10x linear": 0.1, "decay to zero": 0.0, "constant": 1.0}
"""Words of Table 4 as numbers: the final learning rate over the peak."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """One printed value, as its reference row holds it."""

    series: str
    x: str
    """Empty where the value holds for all."""
    y_name: str
    text: str
    """Its digits are those that the paper prints: 306M stands as 306e6."""
    where: str
    """Table, appendix or footnote."""

    @property
    def number(self) -> float | None:
        return number_of(self.text)


def number_of(text: str) -> float | None:
    """Return a printed value as a number, or None where it is none.

    >>> number_of("306e6"), number_of("10x linear"), number_of("swept")
    (306000000.0, 0.1, None)
    """
    if text in LR_DECAYS:
        return LR_DECAYS[text]
    try:
        return float(text)
    except ValueError:
        return None


def num_digits(text: str) -> int:
    """Count the digits that are printed of a number, without leading zeros.

    >>> num_digits("0.087"), num_digits("12.13e9"), num_digits("0.02")
    (2, 4, 1)
    """
    return len(Decimal(text).as_tuple().digits)


def half_unit(text: str) -> float:
    """Return half a unit of the last digit that is printed of a number.

    >>> half_unit("0.087"), half_unit("2.166e-2"), half_unit("306e6")
    (0.0005, 5e-06, 500000.0)
    """
    return float(Decimal(5).scaleb(int(Decimal(text).as_tuple().exponent) - 1))


@functools.cache
def printed(word: str) -> tuple[Printed, ...]:
    """Return what the paper prints of a table or figure, in the order of the reference files."""
    rows = []
    for path in sorted((Path(__file__).parent.parent / "reference").glob("*.csv")):
        lines = csv.DictReader(io.StringIO(read_text(path), newline=""))
        rows += [row for row in lines if row["task"] == word]
    return tuple(
        Printed(
            series=row["series"],
            x=row["x"],
            y_name=row["y_name"],
            text=row["value"],
            where=row["source"].removeprefix(row["version"]).lstrip(", "),
        )
        for row in rows
        if row["status"] == "exact"
    )


def stated(
    reference: pd.DataFrame,
    *,
    y_name: str,
    series: str,
    x: float | None = None,
    scale: float = 1.0,
) -> float | None:
    """Return a number the paper states, times `scale`; None if none stands as the paper's.

    x: of a row that holds at one point; None for one that holds for all.
    """
    rows = published(reference)
    rows = rows[(rows["y_name"] == y_name) & (rows["series"] == series)]
    rows = rows[rows["x"].isna() if x is None else rows["x"] == x]
    numbers = [number_of(text) for text in rows["value_text"]]
    found = next((number for number in numbers if number is not None), None)
    return None if found is None else found * scale
