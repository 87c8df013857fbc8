"""What checks, claims and questions on links and all-gathers measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick
from reproductions.paro.links.experiment import LAYOUTS

if TYPE_CHECKING:
    import pandas as pd


def wrong_bytes(table: pd.DataFrame) -> float:
    """Return how many bytes arrived as others than were sent, in all."""
    return float(table["wrong_bytes"].sum())


def largest(table: pd.DataFrame) -> pd.DataFrame:
    """Return rates of the engine's largest messages. Raises MissingRows where there are none."""
    rows = pick(table, via="ring").dropna(subset=["gbit_per_s"])
    if rows.empty:
        raise MissingRows("no message was timed")
    found: pd.DataFrame = rows[rows["message_bytes"] == rows["message_bytes"].max()]
    return found


def rate_error(table: pd.DataFrame) -> float:
    """Return the largest relative difference of a rate between groups from that asked."""
    rows = pick(largest(table), scope="between")
    return float((rows["gbit_per_s"] / rows["asked_gbit_per_s"] - 1).abs().max())


def least_gap(table: pd.DataFrame) -> float:
    """Return the least rate within groups over that between, of as many rings at once."""
    setting = ["nic", "rings", "seed"]
    rates = largest(table).pivot(index=setting, columns="scope", values="gbit_per_s")
    if rates.shape[1] != 2:
        raise MissingRows("no rate within groups, or none between")
    return float((rates["within"] / rates["between"]).min())


def booked_error(table: pd.DataFrame) -> float:
    """Return by how many bytes our rings' count differs from the formula at most."""
    rows = table[table["algorithm"] != "gloo"]
    return float((rows["booked_bytes"] - rows["formula_bytes"]).abs().max())


def counted_over_formula(table: pd.DataFrame) -> pd.Series[float]:
    """Return what interfaces counted for our rings, over the formula."""
    rows = table[table["algorithm"] != "gloo"].dropna(subset=["counted_bytes"])
    if rows.empty:
        raise MissingRows("no interface counted: links were a token bucket's")
    return rows["counted_bytes"] / rows["formula_bytes"]


def least_counted(table: pd.DataFrame) -> float:
    return float(counted_over_formula(table).min())


def most_counted(table: pd.DataFrame) -> float:
    return float(counted_over_formula(table).max())


def times(table: pd.DataFrame, nic: str, column: str = "median_ms") -> list[pd.Series[float]]:
    """Return ms by algorithm for each layout of ranks. Raises MissingRows where one lacks some."""
    found = []
    for num_groups, ranks in LAYOUTS:
        rows = pick(table, num_groups=num_groups, ranks_per_group=ranks, nic=nic)
        by_algorithm = rows.dropna(subset=[column]).set_index("algorithm")[column]
        if not {"flat", "two-layer"} <= {*by_algorithm.index}:
            raise MissingRows(f"{num_groups} groups of {ranks}, {nic}: no {column} of both")
        found.append(by_algorithm)
    return found


def share_of_flat(table: pd.DataFrame, *, nic: str, column: str = "median_ms") -> list[float]:
    """Return PaRO-CC's time over one ring's, by layout."""
    return [float(one["two-layer"] / one["flat"]) for one in times(table, nic, column)]


def over_predicted(table: pd.DataFrame, *, nic: str) -> list[float]:
    """Return one ring's time over PaRO-CC's, as measured over as predicted, by layout."""
    measured = share_of_flat(table, nic=nic)
    predicted = share_of_flat(table, nic=nic, column="predicted_ms")
    return [wanted / found for found, wanted in zip(measured, predicted, strict=True)]


def saved_by_groups(table: pd.DataFrame, *, nic: str) -> list[float]:
    """Return ms that PaRO-CC saves on one ring, from few groups of two to many."""
    layouts = zip(LAYOUTS, times(table, nic), strict=True)
    return [float(one["flat"] - one["two-layer"]) for (_, m), one in layouts if m == 2]


def flat_over_gloo(table: pd.DataFrame, *, nic: str) -> list[float]:
    """Return our ring's time over gloo's own all-gather's, by layout."""
    found = times(table, nic)
    if not all("gloo" in one.index for one in found):
        raise MissingRows("gloo's own all-gather was not slowed")
    return [float(one["flat"] / one["gloo"]) for one in found]
