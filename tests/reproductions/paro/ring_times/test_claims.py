"""Claims on the time of an all-gather: where they hold, fail, or lack rows."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.verdict import Word
from reproductions.paro.ring_times.fig05 import task
from tests.reproductions.paro.tables import table_of, word
from tests.verdicts import judge


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return table_of(task)


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_holds_fails_and_needs_its_rows(claim: Claim, table: pd.DataFrame) -> None:
    # What is saved grows with GPUs here, whatever the links and sizes.
    holds = table.assign(saved_ms=table["num_gpus"])
    later = table["time_ms"] + table["algorithm"].eq("row_pipeline") * 10.0
    later += table["algorithm"].eq("sequential") * 0.1
    judge(task, claim, holds=holds, fails=table.assign(saved_ms=-table["num_gpus"], time_ms=later))
    assert word(claim, table[table["algorithm"] == "flat"]) is Word.UNTESTED


def test_what_the_formulas_say(table: pd.DataFrame) -> None:
    words = {claim.id: word(claim, table) for claim in task.claims}
    no = Word.CONTRADICTED
    assert [id for id, word in words.items() if word is no] == ["saving_grows_with_gpus"]
