"""What the claims on MT-Bench measure, from tables of one training seed; ratings are 1 to 10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows

if TYPE_CHECKING:
    import pandas as pd

LEAST_SHARE_RATED = 0.95
"""With fewer judgements that have a rating, which answers lack one may decide the means."""


def ordered(table: pd.DataFrame, *, model: str, methods: Sequence[str]) -> list[float]:
    """Return the mean ratings of a model by methods, in their order."""
    rows = comparable(table, model=model, methods=methods)
    return [mean_of(rows, method) for method in methods]


def lead(table: pd.DataFrame, *, model: str, one: str, other: str) -> float:
    """Return the mean rating of one method minus that of another."""
    rows = comparable(table, model=model, methods=(one, other))
    return mean_of(rows, one) - mean_of(rows, other)


def gain_percent(table: pd.DataFrame, *, model: str, one: str, other: str) -> float:
    """Return how many percent the mean rating of one method lies above that of another."""
    rows = comparable(table, model=model, methods=(one, other))
    return 100.0 * (mean_of(rows, one) / mean_of(rows, other) - 1.0)


def lead_by_kind(
    table: pd.DataFrame,
    *,
    model: str,
    one: str,
    other: str,
    kinds: tuple[Sequence[str], Sequence[str]],
) -> float:
    """Return the lead of one method over another in some categories, minus that in others.

    kinds: the two groups of categories; within a group each category weighs the same.
    """
    rows = comparable(table, model=model, methods=(one, other))
    leads = []
    for categories in kinds:
        parts = [rows[rows["category"] == category] for category in categories]
        leads.append(sum(mean_of(part, one) - mean_of(part, other) for part in parts) / len(parts))
    return leads[0] - leads[1]


def comparable(table: pd.DataFrame, *, model: str, methods: Sequence[str]) -> pd.DataFrame:
    """Return a model's rows of some methods, where their ratings may be set side by side.

    Raises MissingRows where a method has no rows, or nobody rated, and InvalidQuantity where
    several judges or wordings did, too many judgements lack a rating, or all ratings are one.
    """
    rows = table[(table["model"] == model) & table["method"].isin(methods)]
    lacking = [method for method in methods if not (rows["method"] == method).any()]
    if lacking:
        raise MissingRows(f"no row has model={model}, method={lacking[0]}")
    if not (rows["num_rated"] > 0).any():
        raise MissingRows(f"no judge has rated the answers of {model}")
    for name in ("judge", "wording"):
        found = list(dict.fromkeys(rows[name].dropna()))
        if len(found) != 1 or " / " in found[0]:
            raise InvalidQuantity(f"ratings by several {name}s are not compared: {found}")
    by_method = rows.groupby("method")[["num_rated", "num_answers"]].sum()
    share = float((by_method["num_rated"] / by_method["num_answers"]).min())
    if share < LEAST_SHARE_RATED:
        raise InvalidQuantity(
            f"only {share:.0%} of a method's answers have a rating, need {LEAST_SHARE_RATED:.0%}"
        )
    means = rows["mean_rating"].dropna()
    if means.nunique() == 1:
        raise InvalidQuantity(
            f"every mean rating of {model} is {means.iloc[0]:g}: the judge tells nothing apart"
        )
    return rows


def mean_of(rows: pd.DataFrame, method: str) -> float:
    """Return a method's mean rating over all rated answers. Raises MissingRows where none is."""
    found = rows[(rows["method"] == method) & (rows["num_rated"] > 0)]
    if found.empty:
        raise MissingRows(f"no answer of {method} is rated")
    weights = found["num_rated"].astype(float)
    return float((found["mean_rating"] * weights).sum() / weights.sum())
