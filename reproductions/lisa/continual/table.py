"""Tables of continual pre-training: what runs came to, and the memory of their steps beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table, Tables
from reproductions.lisa.memory.table import BYTES

if TYPE_CHECKING:
    import pandas as pd

RUNS, MEMORY = "lisa/continual", "lisa/continual_memory"
METHOD = ["model", "method", "gamma"]
NO_RUN = {"lr": 0.0, "chosen": False}

_METHOD = (
    Column(name="model", type="str", role="param", doc="What is trained."),
    Column(name="method", type="str", role="param", doc="full or lisa."),
    Column(name="gamma", type="int", role="param", doc="Blocks trained at once by LISA; else 0."),
    Column(name="lr", type="float", role="param", doc="Highest learning rate of both stages."),
)
_SEED = Column(name="seed", type="int", role="seed", doc="Of text, problems and layers.")


def _value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


_OUTCOME = (
    Column(
        name="chosen", type="bool", role="value",
        doc="Whether this is its method's rate: the most validation problems solved over all"
        " seeds, at a tie the least validation loss.",
    ),
    Column(
        name="num_problems", type="int", role="value", nullable=True,
        doc="Problems of the validation split, and as many of the test split.",
    ),
    _value("text_loss", "Nats an answer token of validation problems, after the text alone."),
    _value("validation_loss", "The same at the end; empty where the run diverged."),
    _value("validation_accuracy", "Share of validation problems solved (strict match)."),
    _value("loss", "Nats an answer token of test problems, at the end."),
    _value("accuracy", "Share of test problems solved: `#### result` is right (strict match)."),
    _value("flexible_accuracy", "The same where the last number of the answer counts."),
)  # fmt: skip
RUN_COLUMNS = Table((*_METHOD, _SEED, *_OUTCOME))
BOTH_COLUMNS = Table(
    (
        Column(name="part", type="str", role="param", doc="run: both stages; step: one step."),
        *_METHOD,
        Column(
            name="how", type="str", role="param",
            doc="training; of a step count: a real one, or arithmetic: on the meta device.",
        ),
        Column(name="seq_len", type="int", role="param", doc="Tokens of a step's sequences."),
        Column(name="batch_size", type="int", role="param", doc="Sequences of a step."),
        Column(name="dtype", type="str", role="param", doc="Of weights, gradients, moments."),
        _SEED,
        *_OUTCOME,
        *BYTES,
    )
)  # fmt: skip


def runs(frames: Tables) -> pd.DataFrame:
    """Return one row a run, with its method's chosen rate marked."""
    return finals(frames[RUNS])[RUN_COLUMNS.names]


def runs_and_memory(frames: Tables) -> pd.DataFrame:
    """Return the runs, and below them the memory of one step by model and method."""
    import pandas as pd

    steps = frames[MEMORY].rename(columns={"shape": "model"})
    trained = finals(frames[RUNS]).rename(columns={"max_tokens": "seq_len"})
    parts = [
        trained.assign(part="run", how="training", dtype="float32"),
        steps.assign(part="step", **NO_RUN),
    ]
    return pd.concat(parts, ignore_index=True).reindex(columns=BOTH_COLUMNS.names)


def finals(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row a run, from a long frame of one row a stage, split and step."""
    import pandas as pd

    told = [*METHOD, "lr", "seed", "batch_size", "max_tokens"]
    rows = []
    for values, run in frame.groupby(told, sort=False):
        text = _row_of(run, "text", "validation")
        validation, test = (_row_of(run, "problems", split) for split in ("validation", "test"))
        rows.append(
            {
                **dict(zip(told, values, strict=True)),
                "num_problems": int(run["num_held_out"].iloc[0]),
                "text_loss": text.get("loss"),
                "validation_loss": validation.get("loss"),
                "validation_accuracy": validation.get("accuracy"),
                "loss": test.get("loss"),
                "accuracy": test.get("accuracy"),
                "flexible_accuracy": test.get("flexible_accuracy"),
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(chosen=table["lr"] == _best_lr(table))


def _row_of(run: pd.DataFrame, stage: str, split: str) -> dict[str, float]:
    """Return the values of a split after a stage; none where the run ended before."""
    rows = run[(run["stage"] == stage) & (run["split"] == split)]
    names = ("loss", "accuracy", "flexible_accuracy")
    return {name: float(rows[name].iloc[-1]) for name in names} if len(rows) else {}


def _best_lr(table: pd.DataFrame) -> pd.Series[float]:
    """Return, row by row, the chosen rate of the row's method; what diverged solves nothing."""
    scored = table.assign(
        missed=-table["validation_accuracy"].astype(float).fillna(0.0),
        loss=table["validation_loss"].astype(float).fillna(float("inf")),
    )
    means = scored.groupby([*METHOD, "lr"])[["missed", "loss"]].mean().reset_index()
    best = means.sort_values(["missed", "loss", "lr"]).drop_duplicates(METHOD)
    return table[METHOD].merge(best, on=METHOD, how="left")["lr"].set_axis(table.index)
