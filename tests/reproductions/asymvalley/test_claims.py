"""Every claim, on tables where it holds, fails, is about nothing, has few seeds, or no rows."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.verdict import Word
from tests.reproductions.asymvalley.claims import TASKS, decide, named
from tests.reproductions.asymvalley.hand_made import curves, others
from tests.verdicts import judge

TABLES = curves.TABLES | others.TABLES
EVERY = [f"{word}:{claim.id}" for word, task in TASKS.items() for claim in task.claims]
CONTROLLED = [address for address in EVERY if named(address)[1].scope.control]
ACCURACIES = ("test_accuracy", "accuracy_a", "accuracy_b")


@pytest.mark.parametrize("address", EVERY)
def test_claim_is_decided_as_its_table_was_made(address: str) -> None:
    (task, claim), make = named(address), TABLES[address.split(":")[0]]
    judge(task, claim, holds=make("holds"), fails=make("fails"))
    if not claim.scope.deterministic:
        # Ties pass no strict claim, and no share of nothing is small.
        flat = decide(address, make("flat"))
        failed = flat.word is Word.UNTESTED and flat.control == "failed"
        assert failed or flat.word in (Word.CONTRADICTED, Word.UNDECIDED)


def untrained(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as of nets that err on nine of ten test images wherever nothing is added."""
    rows = table.copy()
    for place in {"lambda", "x"} & {*rows.columns}:
        rows.loc[rows[place].isin((0.0, 1.0)), "error"] = 0.9
    for column in {"test_error", *ACCURACIES} & {*rows.columns}:
        rows[column] = 0.9 if column == "test_error" else 0.1
    return rows


@pytest.mark.parametrize("address", CONTROLLED)
def test_claim_on_nets_that_learned_nothing_is_not_judged(address: str) -> None:
    verdict = decide(address, untrained(TABLES[address.split(":")[0]]("holds")))
    assert (verdict.word, verdict.control) == (Word.UNTESTED, "failed")
