"""Toys with a broken method fail their checks, and the bracket is violated by what leaves it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import torch

from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.asymvalley.toys import fig10, fig27, fig29
from reproductions.asymvalley.toys.quantities import bracket_violation
from tests.made_runs import MadeRun
from tests.patches import Patch, around, patched
from tests.reproductions.asymvalley.hand_made.others import lines
from tests.verdicts import decide

TOYS = "reproductions.asymvalley.toys"
BROKEN = [
    (fig27.task, f"{TOYS}.relu_unit:sign", lambda sign, weights: -sign(weights)),
    (fig10.task, f"{TOYS}.softmax:sign", lambda sign, weights: torch.ones_like(weights)),
    (
        fig29.task, f"{TOYS}.trial:metrics",
        lambda metrics, *given, direction_CD: metrics(*given, direction_CD=2.0 * direction_CD),
    ),
]  # fmt: skip
"""A wrong sign in the unit, noise without the weights' signs, and a gradient of twice its size."""


@pytest.mark.parametrize(("task", "where", "instead"), BROKEN)
def test_a_toy_with_a_broken_method_fails_its_checks(task: Task, where: str, instead: Any) -> None:
    (experiment,) = task.reads
    rows: list[dict[str, Any]] = []
    with patched(Patch(where=where, instead=around(instead))):
        for params in experiment.params_of("smoke"):
            context = MadeRun({"seed": params.get("seed", 0)})
            found: Any = experiment.function(experiment.run)(experiment.typed(params), context)
            rows += [{**params, **row, "status": "done"} for row in found]
    table = build_table(task, {experiment.id: pd.DataFrame(rows)})
    exact = [claim for claim in task.claims if claim.scope.grade == "exact"]
    told = [decide(task, c, table).word for c in exact]
    assert set(told) == {Word.FAILS}


def test_bracket_is_violated_by_as_much_as_the_loss_leaves_it() -> None:
    table = lines("holds")
    table.loc[(table["seed"] == 1) & (table["lambda"] == 1.0), "ce"] += 5.0
    # From 0.5 to 1 a quadratic loss rises by 0.25 less than its bound, here by 5 too much.
    assert bracket_violation(table) == pytest.approx(4.75)
