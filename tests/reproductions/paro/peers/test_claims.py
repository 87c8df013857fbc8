"""Claims on known systems: where they hold, fail, or lack rows."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.reference import COLUMNS
from harness.declare.verdict import Word
from harness.publish.report.printed import print_tables
from harness.store.table_csv import build_table, validate
from reproductions.paro.peers.abl_peers import task
from reproductions.paro.peers.experiment import Inputs, peers
from reproductions.paro.peers.trial import peer_rows
from tests.verdicts import bad, controlled, good

Case = Literal["holds", "fails"]
CTX: Any = None


def table_of(case: Case) -> pd.DataFrame:
    """Fails: Megatron-FSDP has ING too, DeepSpeed IIG, and what nearly is a strategy holds less."""
    rows = [
        {**point, **row, "status": "done"}
        for point in peers.params_of("cpu")
        for row in peer_rows(Inputs.from_json(point), CTX)
    ]
    frame = pd.DataFrame(rows)
    if case == "fails":
        at = {("Megatron-FSDP", "ING"), ("DeepSpeed", "IIG")}
        places = [pair in at for pair in zip(frame["system"], frame["strategy"], strict=True)]
        frame.loc[places, "expressed"] = "yes"
        frame.loc[frame["expressed"] == "nearly", "bytes_ratio"] = 0.9
    return build_table(task, {peers.id: frame})


def word(claim: Claim, table: pd.DataFrame) -> Word:
    return controlled(claim, table, seed=task.table.seed, profile="cpu").word


@pytest.mark.parametrize("claim", [pytest.param(c, id=c.id) for c in task.claims])
def test_claim_holds_fails_and_needs_its_rows(claim: Claim) -> None:
    held = table_of("holds")
    assert word(claim, held) is good(claim)
    assert word(claim, table_of("fails")) is bad(claim)
    assert word(claim, held[:0]) is Word.UNTESTED


def test_every_system_has_a_row_per_strategy_and_an_exact_setting_costs_what_it_is() -> None:
    table = table_of("holds")
    assert len(validate(table, task.table, where=task.id)) == len(table) == 6 * 14
    exact = table[table["expressed"] == "yes"]
    assert set(exact["bytes_ratio"]) == set(exact["time_ratio"]) == {1.0}
    assert table[table["expressed"] == "no"]["written"].eq("").all()
    # One setting of FSDP is III but for an all-reduce in every micro-batch.
    (hs,) = table[table["setting"] == "fsdp-hs"]["time_ratio"]
    assert hs > 1.0


def test_the_table_prints_words() -> None:
    reference = pd.DataFrame(columns=list(COLUMNS))
    (printed,) = print_tables(task, table_of("holds"), reference).tables
    row = printed.texts()[[head.text for head in printed.rows].index("PyTorch FSDP2")]
    shown = dict(zip([head.text for head in printed.columns], row, strict=True))
    assert shown["III"] == "yes" and shown["NII"] == "nearly" and shown["IIG"] == "no"
