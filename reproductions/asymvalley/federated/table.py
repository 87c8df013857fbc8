"""Table 1: a row per run, per evaluated round, and per identity."""

from __future__ import annotations

from harness.declare import Frame, Series, Table, Tables, columns_of, param, value
from reproductions.asymvalley.federated.experiment import Cell, identities, runs

ORDER = {"final": 0, "round": 1, "check": 2}
DATA_DOC, CANDIDATES_DOC = (column.doc for column in columns_of(Cell, "data", "candidates"))


def accuracy_rows(tables: Tables) -> Frame:
    """Return final rows, learning curves and identities in one table."""
    import pandas as pd

    absent = {"part": "check", "data": None, "dataset": "", "algorithm": "", "round": 0}
    both = (tables[runs.id].assign(check=""), tables[identities.id].assign(**absent))
    parts = [
        part.assign(common=in_common(part)).reindex(columns=ACCURACIES.names)
        for part in both
        if not part.empty
    ]
    return pd.concat(parts).sort_values("part", key=lambda part: part.map(ORDER), kind="stable")


def in_common(runs: Frame) -> Series:
    """Return for each run whether all algorithms on its data set have its seed."""
    own = runs.groupby(["dataset", "seed"])["algorithm"].transform("nunique")
    return own == runs.groupby("dataset")["algorithm"].transform("nunique")


ACCURACIES = Table.of(
    param(
        "part", str, "final: after the last round; round: the learning curve; check: an identity."
    ),
    columns_of(Cell, "dataset", "alpha", "algorithm"),
    param("check", str, "gamma_zero, workers, uniform_average, penalty_gradient; empty in runs."),
    param("round", int, "Rounds done; 0 in checks."),
    columns_of(Cell, "seed"),
    value("common", bool, "Whether all algorithms have the seed on this data set."),
    value("data", str, DATA_DOC, nullable=True),
    value(
        "coefficient_name",
        str,
        "What was chosen: mu, a, gamma, a position encoding; FedAvg's weight decay.",
        nullable=True,
    ),
    value(
        "candidate",
        str,
        "The choice in full; of an encoding, cycles:operation:amplitude.",
        nullable=True,
    ),
    value(
        "coefficient",
        float,
        "The choice as a number; of an encoding, its amplitude.",
        nullable=True,
    ),
    value("candidates", str, CANDIDATES_DOC, nullable=True),
    (
        value(name, float, doc, nullable=True)
        for name, doc in (
            (
                "validation_accuracy",
                "Accuracy of the choice on validation images, in the search.",
            ),
            (
                "test_accuracy",
                "Accuracy of the global model on the test images; empty if diverged.",
            ),
            (
                "same_sign_ratio",
                "Share of a client's parameters with the sign of the global model it received, mean"
                " over clients; final: and over the second half of the rounds.",
            ),
            (
                "penalty",
                "The method's own loss terms, mean over steps and clients; final: and over the"
                " second half of the rounds.",
            ),
            (
                "max_abs_difference",
                "Difference between the two sides of an identity; empty in runs.",
            ),
        )
    ),
    make=accuracy_rows,
)
