"""The table of losses: every fifth step, with what differed until then."""

from __future__ import annotations

from harness.declare import Frame, Table, Tables, param, value
from reproductions.paro.convergence.experiment import ALONE, PYTORCH, Training, trainings

EVERY = 5
"""Steps from one row to the next."""
POINT = [field.name for field in Training.fields()]


def with_differences(tables: Tables) -> Frame:
    """Return losses beside those of one process: differences of all steps, rows of some."""
    rows = tables[trainings.id]
    alone = rows[rows["method"] == ALONE][[*POINT, "step", "loss"]]
    found = rows.merge(alone, on=[*POINT, "step"], suffixes=("", "_alone"))
    found["strategy"] = [PYTORCH.get(name, "" if name == ALONE else name)
                         for name in found["method"]]  # fmt: skip
    found["difference"] = (found["loss"] / found["loss_alone"] - 1.0).abs()
    found["clipped_steps"] = (found["norm"] > found["max_norm"]).astype(int)
    runs = found.sort_values("step", kind="stable").groupby([*POINT, "method"], sort=False)
    found["largest_difference"] = runs["difference"].cummax()
    found["clipped_steps"] = runs["clipped_steps"].cumsum()
    shown = (found["step"] == 1) | (found["step"] % EVERY == 0)
    return found[shown | (found["step"] == found["num_steps"])]


LOSSES = Table.of(
    Training,
    param("method", str, "Who trains: a strategy, DDP, FSDP2, or one process (AdamW)."),
    param("step", int, "Optimizer step, from 1; every fifth."),
    value("strategy", str, "Three letters, of PyTorch's own too; none of one process."),
    value("loss", float, "Mean over the step's tokens before it, in nats."),
    value("norm", float, "Of the gradient, before it is clipped."),
    value("largest_difference", float, "From one process, over its loss: of all steps so far."),
    value("clipped_steps", int, "Steps so far whose gradient was clipped."),
    value("least_padding", int, "Entries by which the unit with least padding was padded."),
    make=with_differences,
)
