"""Tables of accuracies: one row per net and task, then guessing."""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.declare import (
    Cell,
    Column,
    Frame,
    Layout,
    Line,
    Table,
    Tables,
    columns_of,
    measured,
    param,
    value,
)
from reproductions.supar.downstream.experiment import UNTRAINED, continuation, downstream, given
from reproductions.supar.models.points import StartedNet
from reproductions.supar.models.schemes import LABELS, SCHEMES
from reproductions.supar.models.tables import SEED

KEYS: tuple[Column, ...] = (
    *columns_of(StartedNet, "scheme"),
    param(
        "density",
        float,
        "Fraction of hidden weights that is kept; empty where there is no net.",
        nullable=True,
    ),
    param("task", str, "What is asked."),
    *SEED,
)
ACCURACY = value(
    "accuracy",
    float,
    "Fraction of right answers; empty where there is none, as for a diverged net.",
    nullable=True,
)


def with_random(frame: Frame) -> Frame:
    """Return a long frame's rows, and below them what guessing scores on the same questions.

    The rows of guessing have the scheme `random`, no density, and one row per task and seed.
    """
    import pandas as pd

    known = frame.dropna(subset=["random_accuracy"])
    guesses = known.drop_duplicates(subset=["task", "seed"])
    guesses = guesses.assign(
        scheme="random", density=math.nan, accuracy=guesses["random_accuracy"].astype(float)
    )
    return pd.concat([frame, guesses], ignore_index=True)


def not_scored(name: str) -> dict[str, str | int | float | None]:
    """Return the row of a task that gave no accuracy."""
    counts = {"random_accuracy": None, "num_documents": 0}
    texts = {"lm_eval_version": "", "task_sha256": ""}
    return {"task": name, "accuracy": None, "stderr": None, **counts, **texts}


def task_accuracies(tables: Tables) -> Frame:
    """Return a row per net and task, RACE without accuracy where it was not run, then guessing."""
    import pandas as pd

    parts = [tables[downstream.id]]
    if not (handed := tables[given.id]).empty:
        # It was drawn, and no rule of a scheme applied.
        drawn = handed["checkpoint"] == UNTRAINED
        parts.append(handed.assign(scheme=handed["scheme"].mask(drawn, UNTRAINED)))
    nets = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    if "race" not in set(nets["task"]):
        missing = nets.drop_duplicates(subset=["scheme", "density", "seed"])
        nets = pd.concat([nets, missing.assign(**not_scored("race"))], ignore_index=True)
    table = with_random(nets)
    return table.assign(stderr=table["stderr"].mask(table["scheme"] == "random"))


TASKS = Table.of(
    KEYS,
    ACCURACY,
    value(
        "stderr",
        float,
        "Its standard error over documents, by lm-eval; empty for guessing.",
        nullable=True,
    ),
    value("num_documents", int, "How many of the task's documents were asked, the first ones."),
    measured("lm_eval_version", str, "Version of lm-eval.", nullable=True),
    value(
        "task_sha256",
        str,
        "Hash of the task's file and of every prompt and answer that was scored.",
        nullable=True,
    ),
    make=task_accuracies,
)
SUBSTITUTE = Table.of(
    KEYS,
    ACCURACY,
    value("num_items", int, "How many questions were asked, the same ones of every net."),
    value("items_sha256", str, "Hash of the questions; empty for a diverged net.", nullable=True),
    make=lambda tables: with_random(tables[continuation.id]),
)


def accuracy_layout(
    tasks: Mapping[str, str], *, densities: tuple[float, ...], digits: int
) -> Layout:
    """Return Table 2 of some tasks: a group of columns for each sparsity, and guessing.

    tasks: with their heads.
    """
    nets = (
        Line(
            LABELS[scheme],
            group=f"sparsity {100 * (1 - density):.3g} %",
            where={"scheme": scheme, "density": density},
            # The reference rows have six decimals.
            paper={"series": scheme, "x": f"{round(density, 6):g}"},
        )
        for density in densities
        for scheme in SCHEMES
    )
    guessing = Line(
        "Random",
        where={"scheme": "random"},
        # A task of which there is no copy has no number of ours.
        cell=Cell("accuracy", digits=digits, absent="-"),
        paper={"series": "random", "x": ""},
    )
    return Layout(
        rows=tuple(
            Line(head, where={"task": task}, paper={"series": head.split(",")[0]})
            for task, head in tasks.items()
        ),
        columns=(*nets, guessing),
        cell=Cell("accuracy", digits=digits),
    )
