"""What the claims on Table 1 are about. `gains` and `accuracies` take the table of one seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, pick

if TYPE_CHECKING:
    import pandas as pd


def accuracy(table: pd.DataFrame, label: str) -> float:
    """Return the test accuracy of a set of images. Raises InvalidQuantity where it diverged."""
    found = pick(table, label=label)["test_accuracy"].iloc[0]
    if not found == found or found is None:
        raise InvalidQuantity(f"{label} diverged")
    return float(found)


def gains(table: pd.DataFrame, *, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return by how much the accuracy of each pair's first set exceeds that of its second."""
    return [accuracy(table, of) - accuracy(table, over) for of, over in pairs]


Asked = tuple[str, Sequence[tuple[str, float]]]
"""A set of images, and other sets that it must lie above, each by a margin."""


def leads(table: pd.DataFrame, *, of: Sequence[Asked], least: float) -> list[float]:
    """Return how far accuracies lie above what a control asks: `least`, and others' and margin."""
    found = []
    for own, others in of:
        reached = accuracy(table, own)
        found.append(reached - least)
        found += [reached - accuracy(table, other) - margin for other, margin in others]
    return found


def accuracies(table: pd.DataFrame, *, labels: tuple[str, ...]) -> list[float]:
    """Return accuracies that are claimed to ascend."""
    return [accuracy(table, label) for label in labels]


def least_margin(
    reference: pd.DataFrame,
    *,
    cells: Sequence[tuple[str, int]],
    of: str,
    over: Sequence[str],
) -> float:
    """Return the paper's least margin of one method over some others, in some cells."""
    rows = reference[reference["y_name"] == "test_accuracy"]
    scores = rows.set_index(["series", "x"])["value"].astype(float)
    margins = [
        scores[f"{dataset} {of}", ipc] - scores[f"{dataset} {other}", ipc]
        for dataset, ipc in cells
        for other in over
    ]
    return min(margins) / 100.0
