"""Claims on losses: where they hold, fail, or lack rows; losses are made up, ranks train none."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.paro.convergence import quantities as q
from reproductions.paro.convergence.experiment import Training, methods_of, trainings
from reproductions.paro.convergence.fig07 import task
from tests.reproductions.paro.tables import word
from tests.verdicts import claim_of, good, judge


def rows_of(point: dict[str, Any], *, off: float) -> list[dict[str, Any]]:
    """Return losses of which one step's is off, by so many times what is allowed, for IIG."""
    training = Training.from_json(point)
    allowed = q.TOLERANCES[training.precision]
    return [
        {**point, "method": method, "step": step, "norm": 1.0, "least_padding": 2,
         "status": "done",
         "loss": (4.0 - step / 40) * (1 + off * allowed * (method == "IIG" and step == 3))}
        for method in methods_of(training)
        for step in range(1, training.num_steps + 1)
    ]  # fmt: skip


def table_of(*, off: float = 0.5) -> pd.DataFrame:
    rows = [row for point in trainings.params_of("cpu") for row in rows_of(dict(point), off=off)]
    return build_table(task, {trainings.id: pd.DataFrame(rows)})


@pytest.fixture(scope="module")
def whole() -> pd.DataFrame:
    return table_of()


@pytest.fixture(scope="module")
def wrong() -> pd.DataFrame:
    # Losses between methods are compared where they have rows alone.
    found = table_of(off=1.5)
    found.loc[(found["method"] == "IIG") & (found["step"] == 5), "loss"] *= 1.03
    return found


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_holds_fails_and_needs_its_rows(
    claim: Claim, whole: pd.DataFrame, wrong: pd.DataFrame
) -> None:
    # Step 3 has no row: what differed there is in those that follow.
    assert 3 not in set(whole["step"])
    judge(task, claim, holds=whole, fails=wrong)


def test_losses_of_unlike_seeds_are_not_compared(whole: pd.DataFrame) -> None:
    claim = claim_of(task, "paro_converges_as_zero3")
    other = whole["loss"].mask(whole["seed"] == whole["seed"].max(), 1.5 * whole["loss"])
    assert word(claim, whole.assign(loss=other), seed=task.table.seed) is good(claim)


def test_nets_that_do_not_learn_say_nothing_of_convergence(whole: pd.DataFrame) -> None:
    claim = claim_of(task, "paro_converges_as_zero3")
    flat = whole.assign(loss=3.9 + 0.1 * (whole["step"] == 1))
    assert word(claim, flat, seed=task.table.seed) is Word.UNTESTED
