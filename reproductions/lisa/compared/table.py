"""Tables of what was run on SmolLM2: ends of runs, accuracies, and bytes of a step."""

from __future__ import annotations

import math

from harness.declare import Cell, Column, Frame, Line, Table, Tables, columns_of, param, value
from reproductions.lisa.compared.experiment import (
    LABELS,
    WAYS,
    Compared,
    Held,
    Way,
    finetuned,
    pilots,
)
from reproductions.lisa.models.rates import are_chosen
from reproductions.lisa.models.steps.held import BYTES

WINDOW = 10
"""Steps that a smoothed training loss is the mean of: a quarter of the run."""
BY_MEMORY: tuple[Way, ...] = ("full", "galore", "lora", "lisa_8")
EQUAL_MEMORY: tuple[Way, ...] = ("lisa", "lora_equal", "lora_ends", "no_blocks")
"""With LISA's static memory at most."""
TOLD = columns_of(Compared, "model", "method", "rank", "gamma", "period", "lr")
SEED = columns_of(Compared, "seed")
LOSSES = (
    value(
        "train_loss", float, "Nats per answer token, mean of the last 10 batches before their"
        " steps; empty where the run diverged or trained nothing.", nullable=True,
    ),
    value("loss", float, "Held-out, at the end; empty where the run diverged.", nullable=True),
)  # fmt: skip
ASKED = (
    value("accuracy", float, "Share of right answers, lm-eval."),
    value("stderr", float, "Its standard error over documents, by lm-eval."),
    value("random_accuracy", float, "What guessing scores."),
    value("num_documents", int, "How many were asked."),
)
TITLES = {"arc_easy": "ARC-Easy", "piqa": "PIQA", "winogrande": "WinoGrande", "mmlu": "MMLU"}
BENCHMARK = param("benchmark", str, "What was asked.")


def _ended(frame: Frame) -> Frame:
    """Return one row per run, from a long frame of one row per step and split."""
    import pandas as pd

    told = [column.name for column in (*TOLD, *SEED)]
    rows = []
    for values, run in frame.groupby([*told, "held_out"], sort=False):
        train, held_out = run[run["split"] == "train"], run[run["split"] == values[-1]]
        ended = len(held_out) == 1
        last = train.sort_values("step")["loss"].tail(WINDOW).astype(float)
        rows.append(
            {
                **dict(zip(told, values, strict=False)),
                "train_loss": float(last.mean()) if ended and len(last) else None,
                "loss": float(held_out["loss"].iloc[0]) if ended else None,
            }
        )
    return pd.DataFrame(rows)


def _at_every_seed(rows: Frame) -> Frame:
    """Return rows with those of the untuned model, which no seed changes, at every seed."""
    import pandas as pd

    untuned, tuned = rows[rows["method"] == "untuned"], rows[rows["method"] != "untuned"]
    seeds = tuned["seed"].unique() if len(tuned) else untuned["seed"].unique()
    parts = [*(untuned.assign(seed=number) for number in seeds), tuned]
    order = {name: place for place, name in enumerate(WAYS)}
    found = pd.concat(parts, ignore_index=True)
    return found.sort_values("method", key=lambda names: names.map(order), kind="stable")


def end_rows(tables: Tables) -> Frame:
    """Return one row per method and seed."""
    return _at_every_seed(_ended(tables[finetuned.id]))


def pilot_rows(tables: Tables) -> Frame:
    """Return one row per method and rate, the rate of the least validation loss marked."""
    frame = tables[pilots.id]
    rows = _ended(frame[frame["method"] != "untuned"])
    losses = rows["loss"].astype(float).fillna(math.inf)
    return rows.assign(chosen=are_chosen(rows, by=["model", "method"], least={"loss": losses}))


def accuracy_rows(tables: Tables) -> Frame:
    """Return one row per method, seed and benchmark."""
    (frame,) = tables.values()
    return _at_every_seed(_asked(frame))


def pilot_accuracy_rows(tables: Tables) -> Frame:
    """Return one row per benchmark that the untuned model was asked."""
    return _asked(tables[pilots.id])


def _asked(frame: Frame) -> Frame:
    rows = frame[frame["accuracy"].notna()] if "accuracy" in frame else frame[:0]
    return rows.rename(columns={"split": "benchmark"})


ENDS = Table.of(TOLD, SEED, LOSSES, make=end_rows)
PILOTS = Table.of(
    TOLD,
    SEED,
    LOSSES,
    value("chosen", bool, "Whether this rate has its method's least held-out loss."),
    make=pilot_rows,
)
ACCURACIES = Table.of(TOLD, BENCHMARK, SEED, ASKED, make=accuracy_rows)
PILOT_ACCURACIES = Table.of(
    columns_of(Compared, "model", "method"), BENCHMARK, SEED, ASKED, make=pilot_accuracy_rows
)
HELD: tuple[Column, ...] = (*columns_of(Held, without=("seed",)), *BYTES)


def lines(*ways: Way, group: str = "") -> tuple[Line, ...]:
    """Return a row per method."""
    return tuple(Line(LABELS[way], group=group, where={"method": way}) for way in ways)


GROUPED = (
    *lines("untuned"),
    *lines(*BY_MEMORY, group="more static memory"),
    *lines(*EQUAL_MEMORY, group="LISA's static memory at most"),
)
"""Methods by what they hold beside LISA with two blocks."""
LOSS = Cell("loss", unit="nats", digits=3)
