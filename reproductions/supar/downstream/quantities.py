"""What the claims on accuracies measure, from Table 2 and its substitute.

Quantities take the table of one seed, unless they say "whole table"; an average is over the
tasks of the table. No torch, no pandas at import.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.declare import Frame, InvalidQuantity, MissingRows, pick

SPARSE = 1 / 16
"""At this density and below SmuPar is claimed to be the best; sparsity 93.75 %."""


def accuracy(table: Frame, *, scheme: str, task: str, density: float | None = None) -> float:
    """Return one accuracy; density None for guessing.

    Raises MissingRows where nothing was run, InvalidQuantity where what was run has no accuracy: a
    seed that diverged must not be left out as one that nobody asked for.
    """
    place = {} if density is None else {"density": density}
    rows = pick(table, scheme=scheme, task=task, **place)
    values = [float(value) for value in rows["accuracy"].dropna()]
    if len(values) != 1:
        at = "" if density is None else f" at density {density:g}"
        raise InvalidQuantity(f"{task}: {scheme}{at} has {len(values)} accuracies, need one")
    return values[0]


def average(table: Frame, *, scheme: str, density: float | None = None) -> float:
    """Return the mean accuracy over the tasks that guessing has a score for."""
    tasks = sorted(pick(table, scheme="random")["task"].unique())
    scores = [accuracy(table, scheme=scheme, task=task, density=density) for task in tasks]
    return math.fsum(scores) / len(scores)


def average_at_lowest(table: Frame, *, scheme: str) -> float:
    """Return the average accuracy at the lowest density."""
    return average(table, scheme=scheme, density=float(table["density"].min()))


def leads(table: Frame) -> list[float]:
    """Return SmuPar's average over SP's and over muP's, at each low density.

    Raises MissingRows where the table has no density of at most 1/16.
    """
    densities = [float(d) for d in sorted(table["density"].dropna().unique()) if d <= SPARSE]
    if not densities:
        raise MissingRows(f"the table has no density of at most {SPARSE:g}")
    return [
        average(table, scheme="supar", density=density)
        - average(table, scheme=scheme, density=density)
        for density in densities
        for scheme in ("sp", "mup")
    ]


def dense_choices(table: Frame) -> list[float]:
    """Return each scheme's accuracy, dense, in choosing how a text goes on."""
    schemes = [scheme for scheme in table["scheme"].unique() if scheme != "random"]
    return [accuracy(table, scheme=scheme, task="choice", density=1.0) for scheme in schemes]


def leads_at_lowest(table: Frame) -> list[float]:
    """Return SmuPar's average over SP's and over muP's, at the lowest density."""
    mine = average_at_lowest(table, scheme="supar")
    return [mine - average_at_lowest(table, scheme=scheme) for scheme in ("sp", "mup")]


def largest_gap_to(table: Frame, *, printed: Sequence[tuple[str, float]]) -> float:
    """Return how far guessing is from what a table prints for it, over tasks; whole table."""
    guesses = table[table["scheme"] == "random"]
    gaps = [
        abs(float(value) - expected)
        for task, expected in printed
        for value in guesses.loc[guesses["task"] == task, "accuracy"]
    ]
    if not gaps:
        raise MissingRows("the table has no rows of guessing")
    return max(gaps)
