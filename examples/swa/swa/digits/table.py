"""The table of both items, and what claims measure on it."""

from __future__ import annotations

from harness.declare import Frame, Table, columns_of, param, pick, value
from swa.digits.experiment import Training

TABLE = Table.of(
    columns_of(Training, without=("seed",)),
    param("epoch", int, "How many have ended."),
    columns_of(Training, "seed"),
    value("accuracy", float, "On test images, of SWA's average once there is one."),
    value("net_accuracy", float, "On test images, of the net that is trained."),
)


def reached(table: Frame, method: str) -> float:
    """Return the accuracy after the last epoch."""
    return float(pick(table, method=method).sort_values("epoch")["accuracy"].iloc[-1])


def gain(table: Frame) -> float:
    """Return how much more accurate SWA is than SGD."""
    return reached(table, "swa") - reached(table, "sgd")


def gain_over_its_nets(table: Frame) -> float:
    """Return how much more accurate the average is than the nets of its epochs are on average."""
    averaged = pick(table, method="swa").query("epoch > 0.75 * epochs")
    return reached(table, "swa") - float(averaged["net_accuracy"].mean())
