"""Accuracies of Tables 2 and 5."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Cell,
    Frame,
    Layout,
    Line,
    Table,
    Tables,
    columns_of,
    equal,
    measured,
    param,
    value,
)
from reproductions.lisa.lm_benchmarks.experiment import MAX_DOCUMENTS, Asked
from reproductions.lisa.lm_benchmarks.quantities import largest_disagreement
from reproductions.lisa.models.layouts import VANILLA_IS_UNTUNED, models_and_methods
from reproductions.lisa.models.names import QUALITY
from reproductions.lisa.models.scored import METHODS, VANILLA

COLUMNS = (
    *columns_of(Asked, "model", "method"),
    param("task", str, "The benchmark."),
    param("metric", str, "lm-eval's, and its filter of written answers where there is one."),
    *columns_of(Asked, "seed"),
    value(
        "lr",
        float,
        "Learning rate, of the least validation loss; empty where none was chosen here.",
        nullable=True,
    ),
    value("accuracy", float, "Share of right answers, lm-eval."),
    value("stderr", float, "Its standard error over documents, by lm-eval.", nullable=True),
    value(
        "scorer_accuracy",
        float,
        "The same by the scorer of this project, which needs no lm-eval.",
    ),
    value(
        "random_accuracy",
        float,
        "What guessing scores: one over the choices, the mean over documents.",
    ),
    value("num_documents", int, "How many were asked."),
    measured("lm_eval_version", str, "Version of lm-eval."),
    value(
        "task_sha256",
        str,
        "Hash of the task's file and of every prompt and answer that was scored.",
    ),
)


SCORER_AGREES = (
    "scorer_agrees",
    CHECK.at(
        *SMOKE_AND_CPU,
        elsewhere="in bfloat16 choices often tie, and the order of the batches decides",
    ),
    equal(largest_disagreement, 0, "accuracy").measuring("largest difference"),
    "lm-eval and our own scorer give every model the same accuracy.",
)
OF_OURS = (
    f"At cpu each benchmark's first {MAX_DOCUMENTS} documents were asked. So small a model guesses,"
    " or solves nothing, before and after tuning: these numbers compare no methods."
)


def table_of(*tasks: str) -> Table:
    """Return the table of some benchmarks."""
    return Table(COLUMNS, partial(accuracy_rows, tasks=tasks))


def accuracy_rows(tables: Tables, *, tasks: tuple[str, ...]) -> Frame:
    """Return the rows of all experiments on some benchmarks, methods in one order."""
    import pandas as pd

    table = pd.concat([one for one in tables.values() if len(one)], ignore_index=True)
    kept = table[table["task"].isin(tasks)]
    order = {name: place for place, name in enumerate((VANILLA, *METHODS))}
    return kept.sort_values("method", key=lambda names: names.map(order), kind="stable")


def layout_of(*models: str, columns: tuple[Line, ...], notes: tuple[str, ...] = ()) -> Layout:
    """Return the printed table of accuracies of models, ours last, and of chance."""
    chance = Line(
        "chance",
        where={"model": QUALITY, "method": VANILLA},
        cell=Cell("random_accuracy", unit="%", scale=0.01, digits=1),
    )
    return Layout(
        rows=(*models_and_methods((*models, QUALITY)), chance),
        columns=columns,
        cell=Cell("accuracy", unit="%", scale=0.01, digits=1, spread="stderr"),
        title="Accuracy",
        notes=("The row of chance is not the paper's.", VANILLA_IS_UNTUNED, *notes),
        ours=True,
    )
