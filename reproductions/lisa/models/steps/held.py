"""Bytes of a training step as tables hold them, and what claims measure of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick, value

if TYPE_CHECKING:
    import pandas as pd

Chosen = Mapping[str, float | str]
"""Columns and their values that choose a method's rows."""
BYTES = tuple(
    value(name, int, doc, nullable=True)
    for name, doc in (
        ("num_params", "Parameters held, adapters included."),
        ("num_trainable", "Parameters that train at once, counted."),
        ("trainable_closed_form", "The same in closed form."),
        ("weights_bytes", "Parameters and buffers."),
        ("gradients_bytes", "After a backward pass."),
        ("moments_bytes", "States of AdamW, counters and GaLore's projectors included."),
        ("saved_bytes", "What autograd keeps for the backward pass: activations."),
        ("total_bytes", "Sum of these; a peak may lie below or above it."),
        (
            "static_closed_form_bytes",
            "w P + (g + 2 m) tau; under GaLore its projectors and projected moments for 2 m tau.",
        ),
    )
)
STATIC = ["weights_bytes", "gradients_bytes", "moments_bytes"]


def trainable_error(table: pd.DataFrame) -> float:
    """Return the largest difference of counted and computed trainable parameters."""
    rows = pick(table, part="step")
    return float((rows["num_trainable"] - rows["trainable_closed_form"]).abs().max())


def static_error(table: pd.DataFrame) -> float:
    """Return the largest relative difference of static bytes from the closed form."""
    rows = pick(table, part="step")
    return float((rows[STATIC].sum(axis=1) / rows["static_closed_form_bytes"] - 1.0).abs().max())


def bytes_ratio(
    table: pd.DataFrame, *, shape: str, value: str, one: Chosen, other: Chosen
) -> float:
    """Return the largest ratio of one method's bytes to another's over sequence lengths."""
    rows = pick(table, shape=shape)
    ratios = _of(rows, one, value) / _of(rows, other, value)
    if ratios.isna().any() or ratios.empty:
        raise MissingRows(f"{shape} lacks {value} of one of the two methods")
    return float(ratios.max())


def _of(rows: pd.DataFrame, method: Chosen, value: str) -> pd.Series[float]:
    rows = pick(rows, **method)
    # A step may be there twice, counted and by arithmetic, or computed and on a GPU.
    return rows.dropna(subset=[value]).groupby("seq_len")[value].max().astype(float)
