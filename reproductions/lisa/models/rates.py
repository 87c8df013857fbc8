"""Which learning rate counts where several were tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.declare import CHECK, CPU, MissingRows, equal

if TYPE_CHECKING:
    import pandas as pd


def are_chosen(
    runs: pd.DataFrame, *, by: Sequence[str], least: Mapping[str, pd.Series[float]]
) -> pd.Series[bool]:
    """Return which of some runs have the rate, in column `lr`, that was chosen for their kind.

    by: columns that tell kinds of runs apart, each of which has one rate. least: what decides, run
    by run; the mean over a rate's runs counts, the second decides where the first is equal.
    """
    told = list(by)
    means = runs[[*told, "lr"]].assign(**least).groupby([*told, "lr"]).mean().reset_index()
    best = means.sort_values([*least, "lr"]).drop_duplicates(told)
    rates = runs[told].merge(best, on=told, how="left")["lr"]
    return runs["lr"] == rates.set_axis(runs.index)


def other_rates(table: pd.DataFrame, *, rates: Mapping[Any, float], by: str | list[str]) -> float:
    """Return how many kinds of runs, told by columns, run at another rate than pilots chose."""
    best = table[table["chosen"]].groupby(by)["lr"].first()
    missing = set(best.index) - set(rates)
    if missing or best.empty:
        raise MissingRows(f"no rate is declared for {sorted(missing) or 'anything'}")
    return float(sum(lr != rates[place] for place, lr in best.items()))


def asked_of_rates(rates: Mapping[Any, float], by: str | list[str]) -> tuple[Any, ...]:
    """Return the check that runs have the rates which a table of pilots marks as chosen."""
    return (
        "runs_have_these_rates",
        CHECK.at(*CPU, elsewhere="pilots of a tiny model choose nothing"),
        equal(partial(other_rates, rates=rates, by=by), 0, "settings").measuring(
            "settings that run at another rate"
        ),
        "Every setting runs at the rate that its pilots chose.",
    )


def mark(rows: pd.DataFrame) -> str:
    """Say at the loss of a chosen rate that it is so."""
    return "chosen" if len(rows) and bool(rows["chosen"].all()) else ""
