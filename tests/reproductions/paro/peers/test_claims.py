"""Claims on known systems: where they hold, fail, or lack rows."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.store.table_csv import build_table
from reproductions.paro.peers.abl_peers import task
from reproductions.paro.peers.experiment import peers
from tests.reproductions.paro.tables import rows_of, table_of
from tests.verdicts import judge


def spoilt() -> pd.DataFrame:
    """Megatron-FSDP has ING too, DeepSpeed IIG, and what nearly is a strategy holds less."""
    frame = rows_of(peers, peers.grid("cpu"))
    at = {("Megatron-FSDP", "ING"), ("DeepSpeed", "IIG")}
    places = [pair in at for pair in zip(frame["system"], frame["strategy"], strict=True)]
    frame.loc[places, "expressed"] = "yes"
    frame.loc[frame["expressed"] == "nearly", "bytes_ratio"] = 0.9
    return build_table(task, {peers.id: frame})


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_holds_fails_and_needs_its_rows(claim: Claim) -> None:
    judge(task, claim, holds=table_of(task), fails=spoilt())
