"""What the claims on online adaptation are about. Every function takes the table of one seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick
from reproductions.fg2u.adaptation.table import COUNTED, EQUAL, FG2U

if TYPE_CHECKING:
    import pandas as pd

EVAL_MODELS = ("small", "large")
"""Models of ours that read a stream."""
HIGHER_IS_BETTER = {"f1": 1.0, "qa_loss_after": -1.0}
"""Scores, and what makes them ascend."""


def score(table: pd.DataFrame, column: str, /, **where: object) -> float:
    """Return the score of one row, so turned that more is better."""
    rows = pick(table, **where)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows where {where}, need one")
    return HIGHER_IS_BETTER[column] * float(rows[column].iloc[0])


def loss_gain(table: pd.DataFrame, *, dataset: str, entry: str) -> list[float]:
    """Return by how much more than equal weights learned ones lower the loss, by model."""
    return [
        score(table, "qa_loss_after", dataset=dataset, eval_model=model, entry=entry)
        - score(table, "qa_loss_after", dataset=dataset, eval_model=model, entry=EQUAL)
        for model in EVAL_MODELS
    ]


def by_entry(
    table: pd.DataFrame, *, column: str, dataset: str, eval_model: str, entries: tuple[str, ...]
) -> list[float]:
    """Return scores that are claimed to ascend over entries."""
    return [
        score(table, column, dataset=dataset, eval_model=eval_model, entry=entry)
        for entry in entries
    ]


def gains_over(
    table: pd.DataFrame, *, column: str, dataset: str, other: str,
    eval_models: tuple[str, ...] = EVAL_MODELS,
) -> list[float]:  # fmt: skip
    """Return by how much (FG)2U's score exceeds another entry's, by model that reads."""
    pairs = [
        by_entry(table, column=column, dataset=dataset, eval_model=model, entries=(other, FG2U))
        for model in eval_models
    ]
    return [second - first for first, second in pairs]


def by_unroll(
    table: pd.DataFrame, *, column: str, dataset: str, eval_model: str, unrolls: tuple[str, ...]
) -> list[float]:
    """Return scores that are claimed to ascend over unrolls."""
    return [
        score(table, column, dataset=dataset, eval_model=eval_model, unroll=unroll)
        for unroll in unrolls
    ]


def by_base(
    table: pd.DataFrame, *, column: str, dataset: str, eval_model: str, depths: tuple[int, ...]
) -> list[float]:
    """Return by how much the larger base's score exceeds the smaller one's, by depth."""
    return [
        _of_base(table, column, dataset, eval_model, "large", depth)
        - _of_base(table, column, dataset, eval_model, "small", depth)
        for depth in depths
    ]


def deeper_over(
    table: pd.DataFrame, *, dataset: str, eval_models: tuple[str, ...], depths: tuple[int, int]
) -> list[float]:
    """Return by how much F1 rises from a depth to a greater one with the larger base, by model."""
    return [
        _of_base(table, "f1", dataset, model, "large", depths[1])
        - _of_base(table, "f1", dataset, model, "large", depths[0])
        for model in eval_models
    ]


def _of_base(
    table: pd.DataFrame, column: str, dataset: str, eval_model: str, base: str, depth: int
) -> float:
    return score(
        table, column, dataset=dataset, eval_model=eval_model, method="fg2u", phase=2,
        meta_base_model=base, depth=depth,
    )  # fmt: skip


def bytes_ratio(table: pd.DataFrame, *, method: str, depths: tuple[int, int]) -> float:
    """Return live bytes of a gradient at the second depth over those at the first."""
    few, many = (
        pick(table, entry=COUNTED, method=method, depth=depth)["peak_bytes"] for depth in depths
    )
    return float(many.iloc[0]) / float(few.iloc[0])


def gradient_error(table: pd.DataFrame) -> float:
    """Return the largest distance of (FG)2U along every coordinate from RGU."""
    rows = pick(table, entry=COUNTED)["gradient_error"].dropna()
    if rows.empty:
        raise MissingRows("no gradient was set beside RGU's")
    return float(rows.max())


def at_edge(table: pd.DataFrame, **read: tuple[str | int, ...]) -> str:
    """Say where Adam's step size was chosen at an end of its candidates, in rows that are read.

    read: by column the values whose rows a claim reads.
    """
    rows = table[table["entry"] != COUNTED]
    for column, values in read.items():
        rows = rows[rows[column].isin(values)]
    num_edges = int(rows["lr_at_edge"].astype(bool).sum())
    if not num_edges:
        return ""
    return f"Adam's step size was chosen at an end of its candidates in {num_edges} of {len(rows)}"
