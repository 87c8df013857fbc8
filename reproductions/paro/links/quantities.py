"""What checks, claims and questions on links and all-gathers measure."""

from __future__ import annotations

from collections.abc import Callable

from harness.declare import Frame, InvalidQuantity, MissingRows, Series, pick
from reproductions.paro.links.experiment import LAYOUTS, NICS
from reproductions.paro.models.known_bytes import FASTER_WITHIN


def wrong_bytes(table: Frame) -> float:
    """Return how many bytes arrived as others than were sent, in all."""
    return float(table["wrong_bytes"].sum())


def booked_error(table: Frame) -> float:
    """Return by how many bytes our rings' count differs from the formula at most."""
    rows = table[table["algorithm"] != "gloo"]
    return float((rows["booked_bytes"] - rows["formula_bytes"]).abs().max())


def times(table: Frame, nic: str, column: str = "median_ms") -> list[Series]:
    """Return ms by algorithm for each layout of ranks. Raises MissingRows where one lacks some."""
    found = []
    for num_groups, ranks in LAYOUTS:
        rows = pick(table, num_groups=num_groups, ranks_per_group=ranks, nic=nic)
        by_algorithm = rows.dropna(subset=[column]).set_index("algorithm")[column]
        if not {"flat", "two-layer"} <= {*by_algorithm.index}:
            raise MissingRows(f"{num_groups} groups of {ranks}, {nic}: no {column} of both")
        found.append(by_algorithm)
    return found


def share_of_flat(table: Frame, *, nic: str, column: str = "median_ms") -> list[float]:
    """Return PaRO-CC's time over one ring's, by layout."""
    return [float(one["two-layer"] / one["flat"]) for one in times(table, nic, column)]


def share_of_ring(table: Frame, *, nic: str) -> list[float]:
    """Return PaRO-CC's time over that of the faster ring, ours or gloo's own, by layout."""
    return [
        float(one["two-layer"] / min(one["flat"], one.get("gloo", one["flat"])))
        for one in times(table, nic)
    ]


def known_bytes(table: Frame, *, nic: str) -> list[float]:
    """Return the time of known bytes between groups over what arithmetic says, by layout.

    Raises InvalidQuantity where links within groups are not much faster than those between.
    """
    found = []
    for num_groups, ranks in LAYOUTS:
        rows = pick(table, num_groups=num_groups, ranks_per_group=ranks, nic=nic)
        if (rows["within_gbit_per_s"] < FASTER_WITHIN * rows["between_gbit_per_s"]).any():
            raise InvalidQuantity(f"{num_groups} groups of {ranks}, {nic}: slow within groups")
        asked = rows["inter_mbit"] / 1e3
        found.append(float((asked / rows["between_gbit_per_s"]).iloc[0]))
    return found


def over_predicted(table: Frame, *, nic: str) -> list[float]:
    """Return one ring's time over PaRO-CC's, as measured over as predicted, by layout."""
    measured = share_of_flat(table, nic=nic)
    predicted = share_of_flat(table, nic=nic, column="predicted_ms")
    return [wanted / found for found, wanted in zip(measured, predicted, strict=True)]


def on_all_links(table: Frame, *, quantity: Callable[..., list[float]]) -> list[float]:
    """Return a quantity by layout for each way of links, one after another."""
    return [number for nic in NICS for number in quantity(table, nic=nic)]


def flat_over_gloo(table: Frame, *, nic: str) -> list[float]:
    """Return our ring's time over gloo's own all-gather's, by layout."""
    found = times(table, nic)
    if not all("gloo" in one.index for one in found):
        raise MissingRows("gloo's own all-gather was not slowed")
    return [float(one["flat"] / one["gloo"]) for one in found]
