"""Tables of memory: a row per method and setting, and a row per policy and period."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Table, Tables, columns_of, measured, param, seed_column
from reproductions.lisa.memory.experiment import Step, policies, steps
from reproductions.lisa.models.step_bytes import BYTES

if TYPE_CHECKING:
    import pandas as pd

STEP = columns_of(Step, without=("seed",))
GPU_PEAKS = (
    measured(
        "peak_allocated_bytes",
        int,
        "Largest sum of live tensors on the GPU; none without room.",
        nullable=True,
    ),
    measured("peak_reserved_bytes", int, "Largest memory taken from the driver.", nullable=True),
)
BREAKDOWN_SHAPES = ("tiny-smoke", "tiny-deep", "llama-2-7b")


def peak_rows(tables: Tables) -> pd.DataFrame:
    """Return the rows of both experiments, one above the other."""
    import pandas as pd

    parts = [tables[steps.id].assign(part="step", policy="drop_refrozen", period_number=0)]
    if len(tables.get(policies.id, ())):
        periods = tables[policies.id].assign(part="periods", how="count", method="lisa")
        parts.append(periods.assign(rank=0, dropout=0.0))
    return pd.concat(parts, ignore_index=True).reindex(columns=PEAKS.names)


def breakdown_rows(tables: Tables) -> pd.DataFrame:
    """Return the four methods of Figure 3: full, LoRA of the least rank, LISA with two blocks."""
    rows = tables[steps.id]
    rows = rows[rows["shape"].isin(BREAKDOWN_SHAPES)]
    lora = (rows["method"] == "lora") & (rows["rank"] == _least_rank(rows))
    lisa = (rows["method"] == "lisa") & (rows["gamma"] == 2)
    chosen = rows[(rows["method"] == "full") | lora | lisa]
    return chosen.reindex(columns=BREAKDOWN.names).reset_index(drop=True)


def _least_rank(rows: pd.DataFrame) -> pd.Series[int]:
    """Return, for each row, the least rank that its model has."""
    ranks = rows["rank"].where(rows["method"] == "lora")
    return ranks.groupby(rows["shape"]).transform("min")


PEAKS = Table.of(
    param("part", str, "step: one step of a method; periods: moments over periods."),
    STEP,
    param("policy", str, "What happens to the states of blocks that are frozen again."),
    param("period_number", int, "From 1; 0 where a single step is counted."),
    seed_column("Layers drawn."),
    BYTES,
    GPU_PEAKS,
    make=peak_rows,
)
BREAKDOWN = Table.of(STEP, BYTES, GPU_PEAKS, make=breakdown_rows)
