"""What the claims on Table 1 are about. `gains` and `accuracies` take the table of one seed."""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare import Frame, InvalidQuantity, pick


def accuracy(table: Frame, label: str) -> float:
    """Return the test accuracy of a set of images. Raises InvalidQuantity where it diverged."""
    found = pick(table, label=label)["test_accuracy"].iloc[0]
    if not found == found or found is None:
        raise InvalidQuantity(f"{label} diverged")
    return float(found)


def gains(table: Frame, *, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return by how much the accuracy of each pair's first set exceeds that of its second."""
    return [accuracy(table, of) - accuracy(table, over) for of, over in pairs]


def leads(
    table: Frame, *, pairs: Sequence[tuple[str, str]], least: float, by: float
) -> list[float]:
    """Return how far each pair's first accuracy lies above `least`, and its gain above `by`."""
    reached = [accuracy(table, of) - least for of, _ in pairs]
    return reached + [gain - by for gain in gains(table, pairs=pairs)]


def accuracies(table: Frame, *, labels: tuple[str, ...]) -> list[float]:
    """Return accuracies that are claimed to ascend."""
    return [accuracy(table, label) for label in labels]


def least_margin(
    reference: Frame,
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
