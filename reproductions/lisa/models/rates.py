"""Which learning rate counts, where several were tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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
