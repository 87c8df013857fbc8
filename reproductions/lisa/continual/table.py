"""Tables of continual pre-training: what runs came to, and the memory of their steps."""

from __future__ import annotations

from harness.declare import Frame, Table, Tables, columns_of, param, value
from reproductions.lisa.continual.experiment import TwoStages, memory, runs
from reproductions.lisa.memory.experiment import Step
from reproductions.lisa.models.rates import are_chosen
from reproductions.lisa.models.steps.held import BYTES

METHOD = ["model", "method", "gamma"]
VALUES = {
    "text_loss": "Nats per answer token of validation problems, after the text alone.",
    "validation_loss": "The same at the end; empty where the run diverged.",
    "validation_accuracy": "Share of validation problems solved (strict match).",
    "loss": "Nats per answer token of test problems, at the end.",
    "accuracy": "Share of test problems solved: `#### result` is right (strict match).",
    "flexible_accuracy": "The same where the last number of the answer counts.",
}
FOUND_IN = {
    "text_loss": ("text", "validation", "loss"),
    "validation_loss": ("problems", "validation", "loss"),
    "validation_accuracy": ("problems", "validation", "accuracy"),
    **{name: ("problems", "test", name) for name in ("loss", "accuracy", "flexible_accuracy")},
}
"""Stage, split and column of a run's rows, the last of which counts."""
TOLD = columns_of(TwoStages, "model", "method", "gamma", "lr")
SEED = columns_of(TwoStages, "seed")
OUTCOME = (
    value(
        "num_problems",
        int,
        "Problems of the validation split, and as many of the test split; empty for a step.",
        nullable=True,
    ),
    *(value(name, float, doc, nullable=True) for name, doc in VALUES.items()),
)


def run_rows(tables: Tables) -> Frame:
    """Return one row per run."""
    (frame,) = tables.values()
    return finals(frame)


def pilot_rows(tables: Tables) -> Frame:
    """Return one row per pilot, with its method's chosen rate marked."""
    table = run_rows(tables)
    # What diverged solves nothing.
    missed = -table["validation_accuracy"].astype(float).fillna(0.0)
    losses = table["validation_loss"].astype(float).fillna(float("inf"))
    least = {"missed": missed, "loss": losses}
    return table.assign(chosen=are_chosen(table, by=METHOD, least=least))


def run_and_memory_rows(tables: Tables) -> Frame:
    """Return the runs, and below them the memory of one step by model and method."""
    import pandas as pd

    steps = tables[memory.id].rename(columns={"shape": "model"})
    trained = finals(tables[runs.id]).rename(columns={"max_tokens": "seq_len"})
    # No seed changes a step: it stands at the first one of the runs.
    steps = steps.assign(part="step", lr=0.0, seed=trained["seed"].min())
    parts = [trained.assign(part="run", how="training", dtype="float32"), steps]
    return pd.concat(parts, ignore_index=True)


def finals(frame: Frame) -> Frame:
    """Return one row per run, from a long frame of one row per stage, split and step."""
    import pandas as pd

    told = [*METHOD, "lr", "seed", "batch_size", "max_tokens"]
    rows = []
    for values, run in frame.groupby(told, sort=False):
        values_of = {name: _last(run, *place) for name, place in FOUND_IN.items()}
        num_problems = int(run["num_held_out"].iloc[0])
        point = dict(zip(told, values, strict=True))
        rows.append({**point, "num_problems": num_problems, **values_of})
    return pd.DataFrame(rows)


def _last(run: Frame, stage: str, split: str, name: str) -> float | None:
    """Return a split's value after a stage; None where the run ended before."""
    rows = run[(run["stage"] == stage) & (run["split"] == split)]
    return float(rows[name].iloc[-1]) if len(rows) else None


RUNS = Table.of(TOLD, SEED, OUTCOME, make=run_rows)
PILOTS = Table.of(
    TOLD,
    SEED,
    value(
        "chosen",
        bool,
        "Whether this is its method's rate: the most validation problems solved over all seeds, at"
        " a tie the least validation loss.",
    ),
    OUTCOME,
    make=pilot_rows,
)
RUNS_AND_MEMORY = Table.of(
    param("part", str, "run: both stages; step: one step."),
    TOLD,
    param("how", str, "training; a step by count: a real one, or arithmetic: on the meta device."),
    columns_of(Step, "seq_len", "batch_size", "dtype"),
    SEED,
    OUTCOME,
    BYTES,
    make=run_and_memory_rows,
)
