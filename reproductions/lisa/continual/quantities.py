"""What the claims on continual pre-training measure; those over seeds come cut to one seed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from harness.declare import Frame, InvalidQuantity, MissingRows, at_least, pick
from reproductions.lisa.models.claims import IN_HOUSE
from reproductions.lisa.models.steps.held import bytes_ratios

MARGIN = 0.05
"""Share of problems within which two methods are as accurate as each other."""


def lead(table: Frame, *, gamma: int) -> float:
    """Return the share of test problems that LISA solves less that of full training."""
    return accuracy_of(table, "lisa", gamma) - accuracy_of(table, "full", 0)


def rank_correlation(table: Frame) -> float:
    """Return Spearman's correlation of LISA's accuracy with gamma; equal ones share a mean rank.

    Raises InvalidQuantity where all accuracies are equal.
    """
    import pandas as pd

    gammas = sorted(set(table.loc[table["method"] == "lisa", "gamma"]))
    if len(gammas) < 3:
        raise MissingRows(f"LISA has {len(gammas)} values of gamma, need at least 3")
    accuracies = pd.Series([accuracy_of(table, "lisa", gamma) for gamma in gammas])
    if accuracies.nunique() == 1:
        raise InvalidQuantity("LISA solves as many problems at every gamma: there is no order")
    return float(accuracies.rank().corr(pd.Series(gammas).rank()))


def accuracy_of(table: Frame, method: str, gamma: int) -> float:
    """Return a method's share of test problems solved, the mean over seeds; what diverged has 0.

    Raises MissingRows for a method that was not run.
    """
    # A step of Table 4 asks nothing.
    rows = pick(table.dropna(subset=["num_problems"]), method=method, gamma=gamma)
    return float(rows["accuracy"].astype(float).fillna(0.0).mean())


def memory_ratios(table: Frame, *, gammas: Mapping[str, int]) -> list[float]:
    """Return the bytes of a step of LISA over those of full training, of each model at a gamma."""
    steps = pick(table, part="step").rename(columns={"model": "shape"})
    compare = partial(bytes_ratios, steps, value="total_bytes", others=[{"method": "full"}])
    return [
        ratio
        for model, gamma in gammas.items()
        for ratio in compare(shape=model, one={"method": "lisa", "gamma": gamma})
    ]


LEAST_SOLVED = 0.2
SOLVING = IN_HOUSE.controlled(
    "full training solves a fifth of the problems",
    at_least(partial(accuracy_of, method="full", gamma=0), LEAST_SOLVED, "share"),
)
"""Where the in-house model learned to solve problems at all."""
