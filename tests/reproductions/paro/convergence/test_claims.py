"""Claims on losses: where they hold, fail, or lack rows; losses are made up, ranks train none."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.reference import load_reference
from harness.declare.verdict import Word
from harness.publish.figures import draw
from harness.store.table_csv import build_table
from reproductions.paro.convergence import quantities as q
from reproductions.paro.convergence.experiment import ALONE, Training, methods_of, trainings
from reproductions.paro.convergence.fig07 import LAYOUT, task
from tests import layouts
from tests.checkout import PAPERS
from tests.verdicts import bad, controlled, good


def rows_of(point: dict[str, Any], *, off: float) -> list[dict[str, Any]]:
    """Return losses of which one step's is off, by so many times what is allowed, for IIG."""
    training = Training.from_json(point)
    allowed = q.TOLERANCES[training.precision]
    return [
        {**point, "method": method, "step": step, "norm": 1.0, "least_padding": 2,
         "status": "done",
         "loss": (4.0 - step / 50) * (1 + off * allowed * (method == "IIG" and step == 3))}
        for method in methods_of(training)
        for step in range(1, training.num_steps + 1)
    ]  # fmt: skip


def table_of(*, off: float = 0.5) -> pd.DataFrame:
    rows = [row for point in trainings.params_of("cpu") for row in rows_of(dict(point), off=off)]
    return build_table(task, {trainings.id: pd.DataFrame(rows)})


def word(claim: Claim, table: pd.DataFrame) -> Word:
    return controlled(claim, table, seed=task.table.seed, profile="cpu").word


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
    assert word(claim, whole) is good(claim)
    # Step 3 has no row: what differed there is in those that follow.
    assert 3 not in set(whole["step"])
    assert word(claim, wrong) is bad(claim)
    assert word(claim, whole[:0]) is Word.UNTESTED


def test_losses_of_unlike_seeds_are_not_compared(whole: pd.DataFrame) -> None:
    (claim,) = [each for each in task.claims if each.id == "paro_converges_as_zero3"]
    other = whole["loss"].mask(whole["seed"] == 1, 1.5 * whole["loss"])
    assert word(claim, whole.assign(loss=other)) is good(claim)


def test_losses_of_one_process_differ_from_themselves_by_nothing(whole: pd.DataFrame) -> None:
    assert (whole[whole["method"] == ALONE]["largest_difference"] == 0.0).all()
    iig = whole[(whole["method"] == "IIG") & (whole["precision"] == "float32")]
    assert set(iig[iig["step"] == 1]["largest_difference"]) == {0.0}
    assert iig[iig["step"] > 1]["largest_difference"].to_numpy() == pytest.approx(0.5e-4)


def test_every_place_of_the_layout_that_was_run_has_one_row_per_seed(whole: pd.DataFrame) -> None:
    lacking = 0
    for row, column in LAYOUT.places():
        found = layouts.found(LAYOUT, whole, row, column)
        lacking += found.empty
        assert not found.duplicated(["seed", "methods"]).any(), (row.head, column.head)
    # Five columns have some methods alone, 6 of 16 or, in bfloat16, 5; DDP is in no other.
    assert lacking == 4 * 10 + 11 + 1


def test_figure_draws(whole: pd.DataFrame) -> None:
    none = load_reference(PAPERS / "paro", "fig07")[:0]
    image = draw(task, table=whole, reference=none, profile="cpu", width="single")
    assert image.startswith(b"<?xml")
