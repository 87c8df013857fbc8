"""What the claims on time measure, from the table of Figure 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick
from reproductions.lisa.models.shapes import shape_of

if TYPE_CHECKING:
    import pandas as pd

Chosen = Mapping[str, float | str]
"""Columns and their values that choose a method's rows."""
FULL: Chosen = {"method": "full"}
LISA: Chosen = {"method": "lisa"}


def times(
    table: pd.DataFrame, *, one: Chosen, others: Sequence[Chosen], phase: str = "total"
) -> list[float]:
    """Return a method's warm median time of a phase and each other's, in ms, pair by pair.

    From one seed's rows.
    """
    return [_warm_ms(table, each, phase) for other in others for each in (one, other)]


def spreads(table: pd.DataFrame) -> list[float]:
    """Return per method the range of the middle half of its warm steps' times by their median."""
    rows = pick(table, cold=False, phase="total")
    return [float(each) for each in (rows["p75_ms"] - rows["p25_ms"]) / rows["median_ms"]]


def share_of(reference: pd.DataFrame, *, other: str) -> float | None:
    """Return the share of another method's time that the printed speed-up leaves; None: not there.

    other: full or LoRA, as the row's name begins.
    """
    name = reference["y_name"].str.startswith(f"LISA speedup over {other}")
    rows = reference[name]
    return 1.0 / float(rows["value"].iloc[0]) if len(rows) else None


def forward_difference(table: pd.DataFrame) -> float:
    """Return the largest difference of LISA's and full training's operations forward."""
    return float((_flops(table, LISA, "forward") - _flops(table, FULL, "forward")).abs().max())


def backward_error(table: pd.DataFrame) -> float:
    """Return the largest error of what LISA saves backward: 2 operations per token and weight.

    The weights are those of the frozen blocks' linear layers, whose gradients are not made; the
    gradients of their inputs are, as the embedding trains.
    """
    saved = _flops(table, FULL, "backward") - _flops(table, LISA, "backward")
    rows = pick(table, **LISA, phase="backward").dropna(subset=["flops"])
    expected = [_frozen_flops(row) for _, row in rows.iterrows()]
    return float((saved - expected).abs().max())


def _frozen_flops(row: pd.Series) -> int:
    shape = shape_of(row["shape"])
    weights = sum(rows * columns for rows, columns in shape.linears)
    tokens = int(row["seq_len"]) * int(row["batch_size"])
    return int(2 * tokens * weights * (shape.num_blocks - int(row["gamma"])))


def _warm_ms(table: pd.DataFrame, method: Chosen, phase: str) -> float:
    rows = pick(table, cold=False, phase=phase, **method)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {dict(method)} at {phase}, need one per seed")
    return float(rows["median_ms"].iloc[0])


def _flops(table: pd.DataFrame, method: Chosen, phase: str) -> pd.Series[int]:
    """Return counted operations by seed; cold starts have none."""
    rows = pick(table, cold=False, phase=phase, **method)
    return rows.set_index("seed")["flops"]
