"""Tables of memory: one row a method and setting, and one a policy and period."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table, Tables

if TYPE_CHECKING:
    import pandas as pd

MEMORY, POLICIES = "lisa/memory", "lisa/state_policies"


def _param(name: str, type: str, doc: str) -> Column:
    return Column(name=name, type=type, role="param", doc=doc)  # type: ignore[arg-type]


def _value(name: str, doc: str, type: str = "int") -> Column:
    return Column(name=name, type=type, role="value", doc=doc, nullable=True)  # type: ignore[arg-type]


def _peak(name: str, doc: str) -> Column:
    return Column(name=name, type="int", role="measurement", doc=doc, nullable=True)


STEP = (
    _param("shape", "str", "Model."),
    _param(
        "how",
        "str",
        "count: a real step; arithmetic: the same on the meta device, which computes nothing;"
        " gpu: arithmetic, with the allocator's peaks beside it.",
    ),
    _param("method", "str", "full, lora or lisa."),
    _param("rank", "int", "Of LoRA; 0 without."),
    _param("dropout", "float", "Of LoRA's adapters."),
    _param("gamma", "int", "Blocks that train at once under LISA."),
    _param("seq_len", "int", "Tokens of a sequence."),
    _param("batch_size", "int", "Sequences of a step."),
    _param("dtype", "str", "Of weights, gradients and moments."),
)
BYTES = (
    _value("num_params", "Parameters held, adapters included."),
    _value("num_trainable", "Parameters that train at once, counted."),
    _value("trainable_closed_form", "The same in closed form."),
    _value("weights_bytes", "Parameters and buffers."),
    _value("gradients_bytes", "After a backward pass."),
    _value("moments_bytes", "States of AdamW, counters included."),
    _value("saved_bytes", "What autograd keeps for the backward pass: activations."),
    _value("total_bytes", "Sum of these; a peak may lie below or above it."),
    _value("static_closed_form_bytes", "w P + (g + 2 m) tau."),
)
PEAKS = (
    _peak("peak_allocated_bytes", "Largest sum of live tensors on the GPU; none without room."),
    _peak("peak_reserved_bytes", "Largest memory taken from the driver."),
)
PEAK_COLUMNS = Table(
    (
        _param("part", "str", "step: one step of a method; periods: moments over periods."),
        *STEP,
        _param("policy", "str", "Of the states of blocks that are frozen again."),
        _param("period_number", "int", "From 1; 0 where a single step is counted."),
        Column(name="seed", type="int", role="seed", doc="Of the layers drawn."),
        *BYTES,
        *PEAKS,
    )
)
BREAKDOWN_COLUMNS = Table((*STEP, *BYTES, *PEAKS))
BREAKDOWN_SHAPES = ("tiny-smoke", "tiny-deep", "llama-2-7b")


def peak_table(frames: Tables) -> pd.DataFrame:
    """Return the rows of both experiments, one above the other."""
    import pandas as pd

    steps = frames[MEMORY].assign(part="step", policy="drop_refrozen", period_number=0)
    parts = [steps]
    if POLICIES in frames and len(frames[POLICIES]):
        periods = frames[POLICIES].assign(part="periods", how="count", method="lisa")
        parts.append(periods.assign(rank=0, dropout=0.0))
    return pd.concat(parts, ignore_index=True).reindex(columns=PEAK_COLUMNS.names)


def breakdown_table(frames: Tables) -> pd.DataFrame:
    """Return the four methods of Figure 3: full, LoRA of the least rank, LISA with two blocks."""
    rows = frames[MEMORY]
    rows = rows[rows["shape"].isin(BREAKDOWN_SHAPES)]
    lora = (rows["method"] == "lora") & (rows["rank"] == _least_rank(rows))
    lisa = (rows["method"] == "lisa") & (rows["gamma"] == 2)
    chosen = rows[(rows["method"] == "full") | lora | lisa]
    return chosen.reindex(columns=BREAKDOWN_COLUMNS.names).reset_index(drop=True)


def _least_rank(rows: pd.DataFrame) -> pd.Series[int]:
    """Return, for each row, the least rank that its model has."""
    ranks = rows["rank"].where(rows["method"] == "lora")
    return ranks.groupby(rows["shape"]).transform("min")
