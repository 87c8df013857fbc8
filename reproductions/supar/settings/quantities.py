"""What Tables 3 and 4 print, setting by setting, and how far ours lie from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.declare import pick
from harness.errors import SpecError
from reproductions.supar.models.printed import (
    ALL,
    Printed,
    half_unit,
    num_digits,
    printed,
)

if TYPE_CHECKING:
    import pandas as pd

NOT_CLAIMED = {
    "tab03": dict.fromkeys(
        (
            "proxy_layers",
            "proxy_d_head",
            "proxy_params",
            "proxy_tokens",
            "proxy_batch_sequences",
            "random_search_configs",
        ),
        "of the dense proxy on which the paper tuned: we take its result, and tune nothing again",
    ),
    "tab04": {
        "swept": "the figure's own x axis, whose points Table 4 does not print",
        "N/A": "SP, alone in Figure 11, has no multipliers",
    },
}
"""Names of settings, or printed words, of each table, and why nothing is claimed of them."""
FEWEST_DIGITS = {"tokens": 1, "flop_ratio": 1, "init_std": 2, "alpha_output": 2}
"""Settings that the paper prints with fewer digits than ours have, and from how many printed
digits on: a standard deviation of 0.02 and a multiplier of 1 are chosen, not rounded."""
FLOAT_NOISE = 1e-12
"""What rounding does to a learning rate that is a product; far below any printed digit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One printed setting, which our grids at `paper` should have."""

    item: str
    """tab03, or a row of Table 4 by its figures."""
    name: str
    scheme: str
    """One, or ALL."""
    density: str
    """One, or ALL."""
    published: float
    tolerance: float
    cell: Printed

    @property
    def id(self) -> str:
        """Its name among those of its table: `fig10_lr_sp_0.25`."""
        places = [place for place in (self.scheme, self.density) if place != ALL]
        return "_".join([self.item, self.name.lower(), *places])


def published_settings(word: str) -> Iterator[Setting]:
    """Yield every setting that a table prints, less those of which nothing is claimed.

    Raises SpecError for a printed word that stands for no number.
    """
    for cell in printed(word):
        if cell.y_name in NOT_CLAIMED[word] or cell.text in NOT_CLAIMED[word]:
            continue
        item, _, scheme = cell.series.partition(" ")
        if cell.number is None:
            raise SpecError(
                f"{item or word}, {cell.y_name}: {cell.text!r} is no number: say what it stands"
                " for in LR_DECAYS, or in NOT_CLAIMED why it is not claimed"
            )
        yield Setting(
            item=item or word,
            name=cell.y_name,
            scheme=scheme or ALL,
            density=cell.x or ALL,
            published=cell.number,
            tolerance=tolerance_of(cell.y_name, cell.text),
            cell=cell,
        )


def tolerance_of(name: str, text: str) -> float:
    """Return how far our setting may lie from the printed one.

    Half a unit of the last printed digit where ours has more digits, else nothing.

    >>> tolerance_of("init_std", "0.087"), tolerance_of("tokens", "306e6")
    (0.0005, 500000.0)
    >>> tolerance_of("steps", "1169") == tolerance_of("init_std", "0.02") == FLOAT_NOISE
    True
    """
    rounded = name in FEWEST_DIGITS and num_digits(text) >= FEWEST_DIGITS[name]
    return half_unit(text) if rounded else FLOAT_NOISE


def farthest_setting(
    table: pd.DataFrame, *, item: str, name: str, scheme: str, density: str, published: float
) -> float:
    """Return the value of a setting that lies farthest from the published one; whole table.

    Every scheme and density counts for which the paper prints this value, so one that drifts
    alone is seen. Raises MissingRows without the item, SpecError where our grid leaves it open.
    """
    rows = pick(table, item=item)
    rows = rows[rows["setting"] == name]
    for column, wanted in (("scheme", scheme), ("density", density)):
        if wanted != ALL:
            rows = rows[rows[column].isin((wanted, ALL))]
    if rows.empty:
        raise SpecError(f"{item}, {scheme}, density {density}: our grid has no one {name}")
    return max((float(value) for value in rows["value"]), key=lambda ours: abs(ours - published))


def differences(table: pd.DataFrame, *, word: str) -> pd.DataFrame:
    """Return the settings in which our grids differ from a table: setting, ours, published.

    Whole table. Raises as `farthest_setting` does.
    """
    import pandas as pd

    rows = []
    for setting in published_settings(word):
        ours = farthest_setting(
            table,
            item=setting.item,
            name=setting.name,
            scheme=setting.scheme,
            density=setting.density,
            published=setting.published,
        )
        if not abs(ours - setting.published) <= setting.tolerance:
            rows.append((setting.id, ours, setting.published))
    return pd.DataFrame(rows, columns=["setting", "ours", "published"])


def num_differences(table: pd.DataFrame, *, word: str) -> int:
    """Return in how many settings our grids differ from a table; whole table."""
    return len(differences(table, word=word))
