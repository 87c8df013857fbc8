"""Tables of measured steps: a row per setting and seed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare import Table, Tables, columns_of, measured, param, value
from reproductions.paro.measured_steps.experiment import Question, Steps, steps

if TYPE_CHECKING:
    import pandas as pd

ZERO = {1: "NNG", 2: "NGG", 3: "GGG"}
"""Stages and their letters."""
STEP_COLUMNS = (
    *columns_of(Steps, without=("probed",)),
    param("question", str, "What the row answers, where a trial answers every one."),
    param("setting", str, "Three letters, or a baseline of PyTorch's."),
    param("accumulation", int, "Micro-batches per optimizer step, s."),
    value("strategy", str, "The letters; of a baseline those that it is or comes nearest to."),
    value("testbed", str, "namespaces: links shaped by the kernel; token bucket: by the sender."),
    measured("inter_gbit_per_s", float, "B, between groups, as its ranks measured it."),
    measured("intra_gbit_per_s", float, "B', within a group, likewise."),
    measured(
        "step_s",
        float,
        "An optimizer step: median over turns of the slowest rank's; none of what"
        " a token bucket does not slow.",
        nullable=True,
    ),
    measured("samples_per_s", float, "Rows of all ranks per second.", nullable=True),
    measured("compute_s", float, "The same passes and Adam without messages, all ranks at once."),
    measured("predicted_s", float, "t_comm by formula at the measured rates, with one ring."),
    value("held_bytes", int, "Parameters, gradients, Adam's moments, counted: most of any rank."),
    value("predicted_held_bytes", float, "4, 4 and 8 bytes each, by formula."),
    value(
        "between_bytes",
        int,
        "Sent out of a group in a step, counted at the engine's messages:"
        " most of any group; PyTorch's own does not count.",
        nullable=True,
    ),
    measured(
        "interface_bytes",
        int,
        "The same at the interfaces, with headers; none without them.",
        nullable=True,
    ),
    value("predicted_between_bytes", float, "The same by formula."),
)
"""What a trial says of a setting."""
COLUMNS = (
    *STEP_COLUMNS,
    *(
        measured(
            f"{how}gain_over_zero{stage}", float,
            f"Speed over that of ZeRO-{stage} beside it, less 1, in percent{words}.", nullable=True,
        )
        for how, words in (("", ""), ("predicted_", ": by formula"))
        for stage in ZERO
    ),
)  # fmt: skip

BESIDE = ["question", "num_ranks", "nic", "accumulation", "seed"]
"""What settings share that are compared."""


def table_of(*questions: Question) -> Table:
    """Return the table of some questions."""
    return Table.of(COLUMNS, make=partial(rows_about, questions=questions))


def rows_about(tables: Tables, *, questions: tuple[Question, ...]) -> pd.DataFrame:
    """Return the rows of some questions, with gains over what took turns with them."""
    import numpy as np

    rows = tables[steps.id]
    rows = rows[rows["question"].isin(questions)].reset_index(drop=True)
    for stage, letters in ZERO.items():
        base = rows[rows["setting"] == letters].set_index(BESIDE)
        for how, column in (("", "step_s"), ("predicted_", "predicted_s")):
            theirs = base[column].astype("float64").reindex(rows.set_index(BESIDE).index).to_numpy()
            gain = 100.0 * (theirs / rows[column].astype("float64").to_numpy() - 1.0)
            # Nothing gains over itself.
            rows[f"{how}gain_over_zero{stage}"] = np.where(rows["setting"] == letters, np.nan, gain)
    return rows
