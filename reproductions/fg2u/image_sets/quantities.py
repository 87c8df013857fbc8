"""What the claims on Table 1 are about. Every function takes the table of one seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, pick
from reproductions.fg2u.image_sets.table import estimate_label

if TYPE_CHECKING:
    import pandas as pd


def accuracy(table: pd.DataFrame, label: str) -> float:
    """Return the test accuracy of a set of images. Raises InvalidQuantity where it diverged."""
    found = pick(table, label=label)["test_accuracy"].iloc[0]
    if not found == found or found is None:
        raise InvalidQuantity(f"{label} diverged")
    return float(found)


def gains(table: pd.DataFrame, *, of: str, over: tuple[str, ...]) -> list[float]:
    """Return by how much a set's accuracy exceeds that of each of some others."""
    ours = accuracy(table, of)
    return [ours - accuracy(table, other) for other in over]


def gains_of(table: pd.DataFrame, *, of: tuple[str, ...], over: str) -> list[float]:
    """Return by how much the accuracy of each of some sets exceeds that of one."""
    other = accuracy(table, over)
    return [accuracy(table, each) - other for each in of]


def accuracies(table: pd.DataFrame, *, labels: tuple[str, ...]) -> list[float]:
    """Return accuracies that are claimed to ascend."""
    return [accuracy(table, label) for label in labels]


def cosines(table: pd.DataFrame, *, names: tuple[str, ...]) -> list[float]:
    """Return cosines with the exact gradient that are claimed to ascend."""
    return [float(pick(table, label=estimate_label(n))["cosine"].iloc[0]) for n in names]


def least_margin(reference: pd.DataFrame, *, dataset: str, ipc: int) -> float | None:
    """Return the paper's margin of (FG)2U over the best of the biased methods."""
    rows = reference[(reference["y_name"] == "test_accuracy") & (reference["x"] == ipc)]
    scores = rows.set_index("series")["value"]
    best = max(scores[f"{dataset} {m}"] for m in ("trgu", "hessian-free", "neumann"))
    return float(scores[f"{dataset} fg2u"] - best) / 100.0


def margin(reference: pd.DataFrame, *, dataset: str, ipc: int, of: str, over: str) -> float | None:
    """Return the paper's margin of one method over another."""
    rows = reference[(reference["y_name"] == "test_accuracy") & (reference["x"] == ipc)]
    scores = rows.set_index("series")["value"]
    return float(scores[f"{dataset} {of}"] - scores[f"{dataset} {over}"]) / 100.0
