"""Columns of curves, and the rows of some nets, as the tables of several studies have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import Column, Table, columns_of, param, value
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
    experiment: Experiment,
    *parts: Column | Iterable[Column],
    place: str = "lambda",
    **wanted: Iterable[str],
) -> Table:
    """Return the table of an experiment's rows whose parameters are among those wanted.

    A net that diverged in training has no curve, so no row with a `place`; its seed is missing,
    then.
    """
    table = Table.of(*parts)
    make = partial(
        _chosen,
        experiment=experiment.id,
        columns=table.names,
        place=place,
        wanted={name: [*values] for name, values in wanted.items()},
    )
    return replace(table, make=make)


def _chosen(
    tables: Tables,
    *,
    experiment: str,
    columns: list[str],
    place: str,
    wanted: Mapping[str, list[str]],
) -> pd.DataFrame:
    rows = tables[experiment]
    for name, values in wanted.items():
        rows = rows[rows[name].isin(values)]
    rows = rows.reindex(columns=columns)
    return rows[rows[place].notna()]
