"""What Tables 3 and 4 print, setting by setting, and in which of them ours differ.

No pandas at import: layouts are made of what is printed when their tasks are declared.
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path

from harness.declare import CHECK, Claim, Frame, claims, equal, pick
from harness.errors import SpecError
from harness.untrusted import read_text
from reproductions.supar.settings.experiment import ALL

LR_DECAYS = {"10x linear": 0.1, "decay to zero": 0.0, "constant": 1.0}
"""Words of Table 4 as numbers: the final learning rate over the peak."""
OF_THE_PROXY = (
    "proxy_layers",
    "proxy_d_head",
    "proxy_params",
    "proxy_tokens",
    "proxy_batch_sequences",
    "random_search_configs",
)
"""Settings of Table 3 of which nothing is claimed: the paper tuned its dense proxy with them, and
we take its result."""
NO_NUMBER = ("swept", "N/A")
"""Words of Table 4 of which nothing is claimed: a figure's own x axis, and multipliers of SP."""
FEWEST_DIGITS = {"tokens": 1, "flop_ratio": 1, "init_std": 2, "alpha_output": 2}
"""Settings that the paper prints with fewer digits than ours have, and from how many printed
digits on: a standard deviation of 0.02 and a multiplier of 1 are chosen, not rounded."""
FLOAT_NOISE = 1e-12
"""What rounding does to a learning rate that is a product; far below any printed digit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """One printed setting, as its reference row holds it."""

    item: str
    """tab03, or a row of Table 4 by its figures."""
    scheme: str
    """Empty where the value holds for all, as the density."""
    density: str
    name: str
    text: str
    """Its digits are those that the paper prints: 306M stands as 306e6."""

    @property
    def id(self) -> str:
        """Its name among those of its table: `fig10_lr_sp_0.25`."""
        return "_".join(filter(None, (self.item, self.name.lower(), self.scheme, self.density)))

    @property
    def number(self) -> float:
        """What is printed. Raises ValueError for a word that stands for no number."""
        return LR_DECAYS[self.text] if self.text in LR_DECAYS else float(self.text)

    @property
    def tolerance(self) -> float:
        """How far our setting may lie from it.

        Half a unit of the last printed digit where ours has more digits, else nothing.
        """
        if self.name not in FEWEST_DIGITS:
            return FLOAT_NOISE
        _, digits, exponent = Decimal(self.text).as_tuple()
        if len(digits) < FEWEST_DIGITS[self.name]:
            return FLOAT_NOISE
        return float(Decimal(5).scaleb(int(exponent) - 1))


@functools.cache
def printed(word: str) -> tuple[Printed, ...]:
    """Return what the paper prints of a table, in the order of the reference files."""
    rows = []
    for path in sorted((Path(__file__).parent.parent / "reference").glob("*.csv")):
        lines = csv.DictReader(io.StringIO(read_text(path), newline=""))
        rows += [row for row in lines if row["task"] == word and row["status"] == "exact"]
    return tuple(
        Printed(
            item=row["series"].partition(" ")[0] or word,
            scheme=row["series"].partition(" ")[2],
            density=row["x"],
            name=row["y_name"],
            text=row["value"],
        )
        for row in rows
    )


def claimed(word: str) -> Iterator[Printed]:
    """Yield every setting that a table prints, less those of which nothing is claimed."""
    return (c for c in printed(word) if c.name not in OF_THE_PROXY and c.text not in NO_NUMBER)


def farthest_setting(table: Frame, cell: Printed) -> float:
    """Return the value of a setting that lies farthest from the printed one; whole table.

    Every scheme and density counts for which the paper prints this value, so one that drifts
    alone is seen. Raises MissingRows without the item, SpecError where our grid leaves it open.
    """
    rows = pick(table, item=cell.item)
    rows = rows[rows["setting"] == cell.name]
    for column, wanted in (("scheme", cell.scheme), ("density", cell.density)):
        if wanted:
            rows = rows[rows[column].isin((wanted, ALL))]
    if rows.empty:
        raise SpecError(f"{cell.id}: our grid has no one {cell.name}")
    return max((float(ours) for ours in rows["value"]), key=lambda ours: abs(ours - cell.number))


def differences(table: Frame, *, word: str) -> dict[str, float]:
    """Return, by their ids, our values of the settings that differ from a table; whole table.

    Raises as `farthest_setting` does.
    """
    ours = {cell: farthest_setting(table, cell) for cell in claimed(word)}
    return {c.id: own for c, own in ours.items() if not abs(own - c.number) <= c.tolerance}


def num_differences(table: Frame, *, word: str) -> int:
    """Return in how many settings our grids differ from a table; whole table."""
    return len(differences(table, word=word))


def as_published(word: str, statement: str) -> tuple[Claim, ...]:
    """Return the check that our grids have every number that a table prints."""
    differ = equal(partial(num_differences, word=word), 0, "settings")
    scope = replace(CHECK, threshold_from="paper")
    row = ("settings_as_published", scope, differ.measuring("settings that differ"), statement)
    return claims(f"Table {int(word[3:])}", row)
