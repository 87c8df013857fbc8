"""Toys with a broken method fail their checks, and what a quantity makes of a broken table."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

from harness.declare.statistics import MissingRows
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.asymvalley.toys import fig10, fig27, fig29, relu_unit, softmax, trial
from reproductions.asymvalley.toys.quantities import bracket_violation, smallest_active_gains
from reproductions.asymvalley.toys.softmax import Metrics
from tests.reproductions.asymvalley.claims import decide
from tests.reproductions.asymvalley.small import Context
from tests.reproductions.asymvalley.toys.hand_made import lines, units
from tests.verdicts import controlled


def test_draws_of_unlike_order_leave_the_sign_row_undecided() -> None:
    table = lines("holds")
    flipped = (table["seed"] < 2) & table["sign_consistent"]
    table.loc[flipped, "ce"] = 2.0 + table.loc[flipped, "lambda"]
    assert decide("fig29:positive_side_has_lower_metrics", table).word is Word.UNDECIDED


def test_a_missing_size_is_no_gain() -> None:
    with pytest.raises(MissingRows, match=r"not all of the sizes \[-0\.5, 0\.5\]"):
        smallest_active_gains(units("holds").query("`lambda` != 0.5"), sizes=(0.5,))


def test_bracket_is_violated_by_as_much_as_the_loss_leaves_it() -> None:
    table = lines("holds")
    table.loc[(table["seed"] == 1) & (table["lambda"] == 1.0), "ce"] += 5.0
    # From 0.5 to 1 a quadratic loss rises by 0.25 less than its bound, here by 5 too much.
    assert bracket_violation(table) == pytest.approx(4.75)


def verdicts(task: Task) -> dict[str, Word]:
    (experiment,) = task.reads
    rows: list[dict[str, Any]] = []
    for params in experiment.params_of("smoke"):
        context: Any = Context(int(params.get("seed", 0)))
        found: Any = experiment.function(experiment.run)(experiment.typed(params), context)
        rows += [{**params, **row, "status": "done"} for row in found]
    table = build_table(task, {experiment.id: pd.DataFrame(rows)})
    return {
        claim.id: controlled(claim, table, seed=task.table.seed, profile="smoke").word
        for claim in task.claims
        if claim.scope.grade == "exact"
    }


def test_a_wrong_sign_in_the_unit_fails_its_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relu_unit, "sign", lambda weights: -torch.sign(weights))
    assert set(verdicts(fig27.task).values()) == {Word.FAILS}


def test_noise_without_the_weights_sign_fails_the_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "sign", torch.ones_like)
    assert set(verdicts(fig10.task).values()) == {Word.FAILS}


def test_a_wrong_gradient_fails_the_bracket(monkeypatch: pytest.MonkeyPatch) -> None:
    right = trial.metrics

    def twice(weights: Tensor, images: Any, *, direction_CD: Tensor) -> Metrics:
        return right(weights, images, direction_CD=2.0 * direction_CD)

    monkeypatch.setattr(trial, "metrics", twice)
    assert verdicts(fig29.task) == {"gradient_brackets_loss": Word.FAILS}
