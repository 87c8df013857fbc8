"""Claims on the time of an all-gather: where they hold, fail, or lack rows."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.reference import load_reference
from harness.declare.verdict import Word
from harness.publish.figures import draw
from harness.store.table_csv import build_table
from reproductions.paro.ring_times.experiment import Gather, gathers
from reproductions.paro.ring_times.fig05 import task
from reproductions.paro.ring_times.trial import gather_rows
from tests import layouts
from tests.checkout import PAPERS
from tests.verdicts import bad, controlled, good


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rows = [{**Gather().to_json(), **row} for row in gather_rows(Gather(), None)]  # type: ignore[arg-type]
    return build_table(task, {gathers.id: pd.DataFrame(rows)})


def decide(claim: Claim, table: pd.DataFrame) -> Word:
    return controlled(claim, table, seed=None, profile="cpu").word


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_holds_and_fails(claim: Claim, table: pd.DataFrame) -> None:
    # What is saved grows with GPUs here, whatever the links and sizes.
    assert decide(claim, table.assign(saved_ms=table["num_gpus"])) is good(claim)
    wrong = table.assign(saved_ms=-table["num_gpus"])
    later = wrong["time_ms"] + wrong["algorithm"].eq("row_pipeline") * 10.0
    later += wrong["algorithm"].eq("sequential") * 0.1
    assert decide(claim, wrong.assign(time_ms=later)) is bad(claim)


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_is_not_run_without_its_rows(claim: Claim, table: pd.DataFrame) -> None:
    assert decide(claim, table[table["algorithm"] == "flat"]) is Word.UNTESTED


def test_what_the_formulas_say(table: pd.DataFrame) -> None:
    words = {claim.id: decide(claim, table) for claim in task.claims}
    no = Word.CONTRADICTED
    assert [id for id, word in words.items() if word is no] == ["saving_grows_with_gpus"]


def test_figure_draws_without_the_paper(table: pd.DataFrame) -> None:
    none = load_reference(PAPERS / "paro", "fig05")[:0]
    image = draw(task, table=table, reference=none, profile="cpu", width="single")
    assert image.startswith(b"<?xml")


def test_every_place_of_a_layout_has_one_row(table: pd.DataFrame) -> None:
    for layout in task.layouts:
        for row, column in layout.places():
            assert len(layouts.at(layout, table, row, column)) == 1, (
                layout.title,
                row.head,
                column.head,
            )
