"""Tables of predictions: a row per setting, strategy and way of collectives of all GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import Column, Scalar, Table, Tables, columns_of, param, value
from reproductions.paro.predictions.experiment import GPUS, Inputs, Question, predictions

if TYPE_CHECKING:
    import pandas as pd

SETTING = (
    param("model", str, "Model: 7e9 or 65e9 parameters, as the guideline takes them."),
    param("trainable", str, "Trainable over all parameters."),
    param("num_gpus", int, "n."),
    param("nic", str, "rail: every GPU has B to itself; shared: the GPUs of a group share it."),
    param("micro_batch", int, "Sequences per GPU and micro-batch; no formula takes it."),
    param("accumulation", int, "Micro-batches per optimizer step, s."),
    param("world", str, "Collectives of all GPUs. flat: one ring; hier: PaRO-CC in two steps."),
    param("strategy", str, "Three letters, or a baseline."),
)
PREDICTED = (
    value("param_s", float, "Gathers of parameters in a micro-batch."),
    value("gradient_s", float, "Reduction of gradients in a micro-batch."),
    value("sync_g_s", float, "Gradients to the optimizer states' granularity, per step."),
    value("sync_p_s", float, "New parameters to theirs, per step."),
    value("comm_s", float, "t_comm of a step, of s micro-batches."),
    value("memory_bytes", float, "Parameters, gradients and optimizer states per GPU."),
    value("fits", bool, "Whether those alone are within a GPU's memory."),
    value(
        "steps_per_s", float, "1/T by communication alone; none where it does not fit.",
        nullable=True,
    ),
    value("log10_steps_per_s", float, "Its logarithm to base 10.", nullable=True),
    value(
        "samples_per_s_at_most", float,
        "Sequences per second of all GPUs were there nothing to compute; memory ignored.",
    ),
    value(
        "rank", int, "Place among the strategies of section 4.3 that fit; none for others.",
        nullable=True,
    ),
    *(
        value(
            f"gain_over_zero{stage}", float,
            f"Speed over that of ZeRO-{stage}, less 1, in percent; none where either does not fit.",
            nullable=True,
        )
        for stage in (1, 2, 3)
    ),
)  # fmt: skip
COLUMNS: tuple[Column, ...] = (*columns_of(Question), *SETTING, *PREDICTED)


def table_of(**wanted: Scalar | tuple[Scalar, ...]) -> Table:
    """Return the table of some of the predictions: those whose columns equal these, or one of."""
    return Table.of(COLUMNS, make=partial(some_rows, wanted=wanted))


def some_rows(tables: Tables, *, wanted: Mapping[str, Scalar | tuple[Scalar, ...]]) -> pd.DataFrame:
    """Return the rows whose columns equal these, or one of these."""
    rows = tables[predictions.id]
    for column, values in wanted.items():
        rows = rows[rows[column].isin(values if isinstance(values, tuple) else (values,))]
    return rows.reset_index(drop=True)


def scaling_rows(tables: Tables) -> pd.DataFrame:
    """Return the rows of scaling with each one's speed-up ratio."""
    rows = some_rows(tables, wanted={"about": "scaling"})
    key = ["accumulation", "nic", "world", "strategy"]
    few = rows[rows["num_gpus"] == GPUS[0]].set_index(key)["samples_per_s_at_most"]
    base = few.reindex(rows.set_index(key).index).to_numpy()
    per_gpu = rows["samples_per_s_at_most"] / (rows["num_gpus"] / GPUS[0])
    return rows.assign(speedup_ratio=per_gpu / base)


SCALING = Table.of(
    COLUMNS,
    value(
        "speedup_ratio", float,
        f"Samples per second over those of {GPUS[0]} GPUs, over how many times as many GPUs.",
    ),
    make=scaling_rows,
)  # fmt: skip
COMPUTE = Table.of(
    columns_of(Inputs),
    *SETTING[:2],
    param("strategy", str, "The faster one."),
    param("baseline", str, "The slower one."),
    param("reading", str, "more: so many percent faster; times: so many percent of its speed."),
    param("world", str, SETTING[-2].doc),
    param("assembly", str, "T of communication and computation: max of both, or their sum."),
    value("quoted_percent", float, "As the text prints it."),
    value("quoted_ratio", float, "Speed over the baseline's by this reading."),
    value("comm_ratio", float, "The same by communication alone: the most that is possible."),
    value(
        "compute_s",
        float,
        "t_comp of a step at which the formulas give the quoted ratio; none where no time does.",
        nullable=True,
    ),
    value(
        "ratio_at_compute", float, "The formulas' ratio at that time, worked out again.",
        nullable=True,
    ),
)  # fmt: skip
