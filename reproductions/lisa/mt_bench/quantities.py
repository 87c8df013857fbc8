"""What the claims on MT-Bench measure, from tables of one training seed; ratings are 1 to 10."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from harness.declare import Frame, InvalidQuantity, MissingRows, more_than
from reproductions.lisa.models.claims import JUDGED
from reproductions.lisa.models.names import QUALITY, THREE
from reproductions.lisa.models.scored import VANILLA

LEAST_SHARE_RATED = 0.95
"""With fewer judgements that have a rating, which answers lack one may decide the means."""


def steps(table: Frame, *, methods: Sequence[str]) -> list[float]:
    """Return, model by model, the rise of the mean rating from each method to the next."""
    found = []
    for model in models_of(table):
        rows = comparable(table, model=model, methods=methods)
        ratings = [mean_of(rows, method) for method in methods]
        found += [after - before for before, after in pairwise(ratings)]
    return found


def leads(table: Frame, *, model: str, one: str, others: Sequence[str]) -> list[float]:
    """Return the mean rating of one method minus that of each other."""
    rows = comparable(table, model=model, methods=(one, *others))
    return [mean_of(rows, one) - mean_of(rows, other) for other in others]


def gains_percent(table: Frame, *, one: str, other: str) -> list[float]:
    """Return by how many percent one method's mean rating lies above another's, per model."""
    gains = []
    for model in models_of(table):
        rows = comparable(table, model=model, methods=(one, other))
        gains.append(100.0 * (mean_of(rows, one) / mean_of(rows, other) - 1.0))
    return gains


def leads_by_kind(
    table: Frame, *, one: str, other: str, kinds: tuple[Sequence[str], Sequence[str]]
) -> list[float]:
    """Return the lead of one method over another in some categories, minus that in others.

    One number per model. kinds: the two groups of categories; within a group each category weighs
    the same.
    """
    found = []
    for model in models_of(table):
        rows = comparable(table, model=model, methods=(one, other))
        means = []
        for categories in kinds:
            parts = [rows[rows["category"] == category] for category in categories]
            total = sum(mean_of(part, one) - mean_of(part, other) for part in parts)
            means.append(total / len(parts))
        found.append(means[0] - means[1])
    return found


def models_of(table: Frame) -> tuple[str, ...]:
    """Return the models that are judged: the in-house one where no other is there, else three."""
    return (QUALITY,) if set(table["model"]) == {QUALITY} else THREE


def comparable(table: Frame, *, model: str, methods: Sequence[str]) -> Frame:
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


def mean_of(rows: Frame, method: str) -> float:
    """Return a method's mean rating over all rated answers. Raises MissingRows where none is."""
    found = rows[(rows["method"] == method) & (rows["num_rated"] > 0)]
    if found.empty:
        raise MissingRows(f"no answer of {method} is rated")
    weights = found["num_rated"].astype(float)
    return float((found["mean_rating"] * weights).sum() / weights.sum())


RATED = JUDGED.controlled(
    "the judge rates full training's answers above the untuned model's",
    more_than(partial(steps, methods=(VANILLA, "full")), 0, "points"),
)
"""Where fine-tuning is seen in the ratings at all."""
