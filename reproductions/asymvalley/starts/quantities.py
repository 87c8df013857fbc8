"""What the claims on starts, recipes and activations are about, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". AS is the mean test
error over lambda < 0 minus that over lambda > 0, over all draws of a noise. No torch, no pandas
at import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare.statistics import MissingRows
from reproductions.asymvalley.models.pairs import RECIPES
from reproductions.asymvalley.valleys.quantities import AT_ZERO, asymmetry, pick, share_of, sides

if TYPE_CHECKING:
    import pandas as pd


# --- initial BN weights (Figures 7, 21, 22) ---


def start_rows(
    table: pd.DataFrame, *, part: str, start: str, norm: str = "", group: str = ""
) -> pd.DataFrame:
    """Return the rows of one part of one start; raises MissingRows where there are none."""
    return pick(table, part=part, bn_start=start, norm=norm, group=group)


def positive_share(table: pd.DataFrame, *, start: str) -> float:
    """Return the share of positive BN weights after training from a start."""
    (share,) = start_rows(table, part="share", start=start)["bn_weight"]
    return float(share)


def middle_weight(table: pd.DataFrame, *, start: str) -> float:
    """Return the median BN weight after training from a start.

    Raises MissingRows where the table has no quantile 0.5.
    """
    rows = start_rows(table, part="quantile", start=start)
    middle = rows.loc[(rows["x"] - 0.5).abs() <= AT_ZERO, "bn_weight"]
    if middle.empty:
        raise MissingRows(f"the table has no median of the start {start}")
    return float(middle.iloc[0])


def bn_asymmetry(table: pd.DataFrame, *, start: str) -> float:
    """Return AS under {0,1} noise on the BN weights alone, norm-scaled, s = 1."""
    rows = start_rows(table, part="curve", start=start, norm="ns", group="bn")
    return asymmetry(_at_width(rows, 1.0))


def bn_asymmetry_share(table: pd.DataFrame, *, start: str, others: Sequence[str]) -> float:
    """Return abs(AS) of a start over the least AS of others, noise on the BN weights alone."""
    least = min(bn_asymmetry(table, start=other) for other in others)
    return share_of(bn_asymmetry(table, start=start), least)


def filter_asymmetries(table: pd.DataFrame, *, starts: Sequence[str]) -> list[float]:
    """Return abs(AS) of several starts under filter-normalized noise at the smallest s."""
    found = []
    for start in starts:
        rows = start_rows(table, part="curve", start=start, norm="filter_ns", group="all")
        found.append(abs(asymmetry(_at_width(rows, float(rows["s"].min())))))
    return found


def _at_width(rows: pd.DataFrame, s: float) -> pd.DataFrame:
    return pick(rows, s=s).rename(columns={"x": "lambda"})


# --- six recipes of training (Figures 9, 23) ---


def recipe_asymmetry(table: pd.DataFrame, *, recipe: str, sign_consistent: bool) -> float:
    """Return AS of one recipe's solution along the raw or the sign-consistent noise."""
    return asymmetry(pick(table, recipe=recipe, sign_consistent=sign_consistent))


def largest_raw_share(table: pd.DataFrame) -> float:
    """Return the largest abs(AS) of the raw noise over AS of the sign-consistent, over recipes."""
    shares = []
    for recipe in RECIPES:
        raw, signed = (
            recipe_asymmetry(table, recipe=recipe, sign_consistent=kind) for kind in (False, True)
        )
        shares.append(share_of(raw, signed))
    return max(shares)


def least_sign_asymmetry(table: pd.DataFrame) -> float:
    """Return the least AS of the sign-consistent noise over recipes."""
    return min(recipe_asymmetry(table, recipe=name, sign_consistent=True) for name in RECIPES)


def raw_spread(table: pd.DataFrame) -> tuple[float, float]:
    """Return the largest and the least E+ of the raw noise over recipes, for their ratio.

    All recipes have the same lambdas.
    """
    means = [sides(pick(table, recipe=r, sign_consistent=False)).plus for r in RECIPES]
    return max(means), min(means)


# --- centres of curves (Figures 7, 9, 21 to 23, BN statistics) ---


def widest_centre(table: pd.DataFrame, *, by: Sequence[str], x: str = "lambda") -> float:
    """Return the largest range of errors at lambda = 0 within one treatment; whole table.

    by: the columns that tell treatments of a solution apart, beside the seed.
    """
    rows = table[table["part"] == "curve"] if "part" in table else table
    centres = rows[rows[x].abs() <= AT_ZERO]
    if centres.empty:
        raise MissingRows("the table has no curve with lambda = 0")
    errors = centres.groupby([*by, "seed"])["error"]
    return float((errors.max() - errors.min()).max())


# --- BN statistics (ours) ---


def frozen_excess(table: pd.DataFrame, *, pair: str) -> float:
    """Return E+ of the sign-consistent noise with frozen BN statistics minus that without."""
    plus = {}
    for kind in ("frozen", "recalibrate"):
        plus[kind] = sides(pick(table, pair=pair, bn_stats=kind, sign_consistent=True)).plus
    return plus["frozen"] - plus["recalibrate"]


# --- hidden units (Figure 28) ---

SHARES = ("on_on", "on_off", "off_on", "off_off")
REACHES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Figure 28's a."""


def tightest_agreement(table: pd.DataFrame) -> list[float]:
    """Return the agreement at -a and at +a, for the a at which the latter leads least."""
    pairs = [[_agreement(table, -a), _agreement(table, a)] for a in REACHES]
    return min(pairs, key=lambda pair: pair[1] - pair[0])


def _agreement(table: pd.DataFrame, place: float) -> float:
    rows = table[(table["lambda"] - place).abs() <= AT_ZERO]
    if rows.empty:
        raise MissingRows(f"the table has no activations at lambda = {place:g}")
    return float(rows["agreement"].mean())


def farthest_sum(table: pd.DataFrame) -> float:
    """Return that sum of the four shares which lies farthest from 1; whole table."""
    sums = table[list(SHARES)].sum(axis=1)
    if sums.empty:
        raise MissingRows("the table has no activations")
    return float(sums.loc[(sums - 1.0).abs().idxmax()])


def switched_at_centre(table: pd.DataFrame) -> float:
    """Return the largest share of units that switch at lambda = 0; whole table."""
    centre = table[table["lambda"].abs() <= AT_ZERO]
    if centre.empty:
        raise MissingRows("the table has no activations at lambda = 0")
    return float((centre["on_off"] + centre["off_on"]).max())


# --- the sign and the gradient (Appendix D.1) ---


def largest_cosine(table: pd.DataFrame) -> float:
    """Return the largest abs(cos(sign(theta_f), gradient)) over the trained nets.

    A net whose training diverged has none.
    """
    sizes = table["sign_gradient_cosine"].abs().dropna()
    if sizes.empty:
        raise MissingRows("the table has no trained net")
    return float(sizes.max())
