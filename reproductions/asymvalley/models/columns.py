"""Columns of curves, and the rows of some nets, as the tables of several studies have them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.declare import Column, Table, columns_of, param, value
from reproductions.asymvalley.models.curves import places_of
from reproductions.asymvalley.models.pairs import Training

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare import Experiment, Tables

PAIR, SEED = columns_of(Training, "pair", "seed")
SIGN_CONSISTENT = param(
    "sign_consistent",
    bool,
    "Whether the noise has the signs of the converged weights: |eps| * sign(theta_f).",
)
S = param("s", float, "Width factor: norm of the noise over that of theta_f.")
DRAW = param("draw", int, "Number of the noise's draw; raw and sign-consistent rows share a draw.")
LAMBDA = param("lambda", float, "Place on the line, in [-1, 1]; the converged net is at 0.")
ERROR = value("error", float, "Share of wrong test predictions.")
CE = value(
    "ce",
    float,
    "Mean cross-entropy on the test set in nats; empty where it is not finite.",
    nullable=True,
)
SIGN_CONSISTENCY = value(
    "sign_consistency",
    float,
    "Share of the perturbed coordinates whose step has the sign of the converged weight; a zero has"
    " none.",
)
MEASURED = (ERROR, CE, SIGN_CONSISTENCY)


def rows_where(
    experiment: Experiment, *parts: Column | Iterable[Column], **wanted: Collection[str]
) -> Table:
    """Return the table of an experiment's rows whose parameters are among those wanted.

    A net that diverged in training has no curve, so no row with a place on it; its seed is
    missing, then.
    """
    table = Table.of(*parts)

    def make(tables: Tables) -> pd.DataFrame:
        rows = tables[experiment.id]
        for name, values in wanted.items():
            rows = rows[rows[name].isin([*values])]
        rows = rows.reindex(columns=table.names)
        return rows[places_of(rows).notna()]

    return replace(table, make=make)
