"""Bytes of a training step as tables hold them, and what claims measure of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.declare import Criterion, MissingRows, Scope, at_most, equal, pick, value

if TYPE_CHECKING:
    import pandas as pd

Declared = tuple[str, Scope, Criterion, str]
"""A claim as `claims` takes it."""
Chosen = Mapping[str, float | str]
"""Columns and their values that choose a method's rows."""
FULL: Chosen = {"method": "full"}
LISA: Chosen = {"method": "lisa"}
DROPPED: Chosen = {"method": "lora", "dropout": 0.1}
PLAIN: Chosen = {"method": "lora", "dropout": 0.0}
"""LoRA as in the authors' memory script, and without its dropout."""
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


PARTS = ["num_params", "num_trainable", *STATIC, "saved_bytes"]
"""What a real step and arithmetic must agree on."""


def as_computed(scope: Scope) -> tuple[Declared, Declared]:
    """Return the checks of counted parameters and bytes against the closed form."""
    return (
        (
            "trainable_as_computed",
            scope,
            equal(trainable_error, 0, "parameters").measuring("largest difference"),
            "The closed form gives the number of parameters that train at once.",
        ),
        (
            "static_as_computed",
            scope,
            at_most(static_error, 0.03, "share").measuring("largest difference"),
            "Weights, gradients and moments take the bytes that the parameter count gives.",
        ),
    )


def arithmetic_is_the_count(scope: Scope) -> Declared:
    """Return the check of arithmetic against real steps."""
    return (
        "arithmetic_is_the_count",
        scope,
        equal(arithmetic_error, 0, "bytes").measuring("largest difference"),
        "Arithmetic gives every part of memory to the byte, as a real step takes it.",
    )


def trainable_error(table: pd.DataFrame) -> float:
    """Return the largest difference of counted and computed trainable parameters."""
    return float((table["num_trainable"] - table["trainable_closed_form"]).abs().max())


def static_error(table: pd.DataFrame) -> float:
    """Return the largest relative difference of static bytes from the closed form."""
    return float((table[STATIC].sum(axis=1) / table["static_closed_form_bytes"] - 1.0).abs().max())


def arithmetic_error(table: pd.DataFrame) -> float:
    """Return the largest difference of arithmetic from a real step's count, over all parts."""
    setting = ("shape", "method", "rank", "dropout", "gamma", "seq_len")
    keys = [name for name in setting if name in table]
    counted, computed = (
        pick(table, how=how).set_index(keys)[PARTS] for how in ("count", "arithmetic")
    )
    both = counted.join(computed.add_suffix("_computed"), how="inner")
    if len(both) != len(counted):
        raise MissingRows("a counted step has no arithmetic beside it")
    return float(max((both[name] - both[f"{name}_computed"]).abs().max() for name in PARTS))


def bytes_ratios(
    table: pd.DataFrame, *, shape: str, value: str, one: Chosen, others: Sequence[Chosen]
) -> list[float]:
    """Return one method's bytes over each other's: the largest ratio over sequence lengths."""
    rows = pick(table, shape=shape)
    found = [_of(rows, one, value) / _of(rows, other, value) for other in others]
    if any(ratios.isna().any() or ratios.empty for ratios in found):
        raise MissingRows(f"{shape} lacks {value} of one of two methods")
    return [float(ratios.max()) for ratios in found]


def _of(rows: pd.DataFrame, method: Chosen, value: str) -> pd.Series[float]:
    rows = pick(rows, **method)
    # A step may be there twice, counted and by arithmetic, or computed and on a GPU.
    return rows.dropna(subset=[value]).groupby("seq_len")[value].max().astype(float)
