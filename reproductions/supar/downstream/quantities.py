"""Accuracies of Table 2 and of its substitute: columns, tables, quantities and claims of both.

Quantities take the table of one seed, unless they say "whole table"; an average is over the
tasks of the table. No torch, no pandas at import.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.declare.claims import Claim
from harness.declare.old import flat_claim
from harness.declare.profiles import Profile
from harness.declare.statistics import MissingRows
from harness.declare.table import Column
from reproductions.supar.coordinates.quantities import STRICTLY
from reproductions.supar.models.tables import SCHEME, SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

SPARSE = 1 / 16
"""At this density and below SmuPar is claimed to be the best; sparsity 93.75 %."""

DENSITY = Column(
    name="density",
    type="float",
    role="param",
    doc="Fraction of hidden weights that is kept; empty where there is no net.",
    nullable=True,
)
TASK = Column(name="task", type="str", role="param", doc="What is asked.")
ACCURACY = Column(
    name="accuracy",
    type="float",
    role="value",
    doc="Fraction of right answers; empty where there is none, as for a diverged net.",
    nullable=True,
)
KEYS = (SCHEME, DENSITY, TASK, SEED)


def with_random(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a long frame's rows, and below them what guessing scores on the same questions.

    The rows of guessing have the scheme `random`, no density, and one row a task and seed.
    """
    import pandas as pd

    known = frame.dropna(subset=["random_accuracy"])
    guesses = known.drop_duplicates(subset=["task", "seed"])
    guesses = guesses.assign(
        scheme="random", density=math.nan, accuracy=guesses["random_accuracy"].astype(float)
    )
    return pd.concat([frame, guesses], ignore_index=True)


# --- quantities ---


def accuracy(table: pd.DataFrame, *, scheme: str, task: str, density: float | None = None) -> float:
    """Return one accuracy; density None for guessing. Raises MissingRows where there is none."""
    rows = table[(table["scheme"] == scheme) & (table["task"] == task)]
    if density is not None:
        rows = rows[rows["density"] == density]
    values = [float(value) for value in rows["accuracy"].dropna()]
    if len(values) != 1:
        place = "" if density is None else f" at density {density:g}"
        raise MissingRows(f"{task}: {scheme}{place} has {len(values)} accuracies, need one")
    return values[0]


def average(table: pd.DataFrame, *, scheme: str, density: float | None = None) -> float:
    """Return the mean accuracy over the tasks that guessing has a score for."""
    tasks = sorted(table.loc[table["scheme"] == "random", "task"].unique())
    if not tasks:
        raise MissingRows("the table has no rows of guessing, so no tasks to average over")
    scores = [accuracy(table, scheme=scheme, task=task, density=density) for task in tasks]
    return math.fsum(scores) / len(scores)


def average_at_lowest(table: pd.DataFrame, *, scheme: str) -> float:
    """Return the average accuracy at the lowest density; of guessing where it has none."""
    density = None if scheme == "random" else float(table["density"].min())
    return average(table, scheme=scheme, density=density)


def least_lead(table: pd.DataFrame) -> float:
    """Return SmuPar's average over the better of SP's and muP's, the least over low densities.

    Raises MissingRows where the table has no density of at most 1/16.
    """
    densities = [float(d) for d in sorted(table["density"].dropna().unique()) if d <= SPARSE]
    if not densities:
        raise MissingRows(f"the table has no density of at most {SPARSE:g}")
    return min(
        average(table, scheme="supar", density=density)
        - max(average(table, scheme=scheme, density=density) for scheme in ("sp", "mup"))
        for density in densities
    )


def lead_on_task(table: pd.DataFrame, *, task: str) -> float:
    """Return SmuPar's accuracy over the better of SP's and muP's at the lowest density."""
    density = float(table["density"].min())
    others = [accuracy(table, scheme=name, task=task, density=density) for name in ("sp", "mup")]
    return accuracy(table, scheme="supar", task=task, density=density) - max(others)


def margins_over_random(table: pd.DataFrame) -> list[float]:
    """Return what SP and SmuPar score above guessing, on average at the lowest density."""
    guessing = average_at_lowest(table, scheme="random")
    return [average_at_lowest(table, scheme=scheme) - guessing for scheme in ("sp", "supar")]


def largest_dense_difference(table: pd.DataFrame) -> float:
    """Return the largest difference of dense SmuPar and muP, over tasks and seeds; whole table."""
    dense = table[table["density"] == 1.0].dropna(subset=["accuracy"])
    keys = ["task", "seed"]
    supar, mup = (dense[dense["scheme"] == name].set_index(keys) for name in ("supar", "mup"))
    both = supar["accuracy"].astype(float) - mup["accuracy"].astype(float)
    if both.dropna().empty:
        raise MissingRows("SmuPar and muP share no dense net")
    return float(both.abs().max())


def largest_gap_to(table: pd.DataFrame, *, printed: Sequence[tuple[str, float]]) -> float:
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


# --- claims that Table 2 and its substitute both make ---


def supar_is_best(*, where: str, profiles: tuple[Profile, ...], **rest: Any) -> Claim:
    """Return the claim that SmuPar's average is within 0.01 of the best at high sparsity."""
    return flat_claim(
        id="supar_best",
        statement="At density 1/16 and below, SμPar's average accuracy is no more than 0.01 below"
        " the better of SP's and μP's.",
        where=where,
        form="at_least",
        grade="empirical",
        quantity=least_lead,
        threshold=-0.01,
        threshold_from="theory",
        profiles=profiles,
        unit="accuracy",
        **rest,
    )


def sp_is_nearer_to_random(*, where: str, profiles: tuple[Profile, ...], **rest: Any) -> Claim:
    """Return the claim that SP is closer to guessing than SmuPar at the lowest density."""
    return flat_claim(
        id="sp_nearer_to_random",
        statement="At the lowest density, SP's average accuracy exceeds guessing by less than"
        " SμPar's does.",
        where=where,
        form="ordering",
        grade="empirical",
        quantity=margins_over_random,
        threshold=STRICTLY,
        threshold_from="theory",
        profiles=profiles,
        unit="accuracy",
        **rest,
    )


def dense_is_equal(*, where: str) -> Claim:
    """Return the claim that dense SmuPar and muP answer alike."""
    return flat_claim(
        id="dense_identical",
        statement="Dense, SμPar and μP are one model: equal accuracy on every task and seed.",
        where=where,
        form="equal",
        grade="exact",
        quantity=largest_dense_difference,
        threshold=0.0,
        threshold_from="theory",
        profiles=("smoke", "cpu"),
        out_of_profile="checkpoints handed in come from runs of which we know nothing",
        deterministic=True,
        unit="accuracy",
    )


def average_claim(
    scheme: str, *, id: str, statement: str, band: tuple[float, float], **rest: Any
) -> Claim:
    """Return the claim that an average at the lowest density lies where the paper prints it."""
    return flat_claim(
        id=id,
        statement=statement,
        form="within",
        grade="empirical",
        quantity=partial(average_at_lowest, scheme=scheme),
        threshold=band,
        threshold_from="paper",
        profiles=("paper",),
        unit="accuracy",
        **rest,
    )
