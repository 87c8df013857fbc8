"""Checks and claims on the 27 strategies: where they hold, fail, or lack rows."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.verdict import Word
from reproductions.paro.strategies.tab01 import task
from tests.reproductions.paro.tables import Spoil, put, table_of, word
from tests.verdicts import claim_of, judge

SWEEP = {"part": "sweep"}
COSTS = {"part": "costs", "world": "flat"}
SPOILT: dict[str, tuple[Spoil, ...]] = {
    "all_combinations": (put("p", "G", **SWEEP, world="flat", strategy="NNN"),),
    "kept": (put("effective", 1, **SWEEP, world="flat", strategy="NGI"),),
    "coarser_states_cost_memory": (put("least_memory_ratio", 1.0, **SWEEP, strategy="GIN"),),
    "coarser_states_save_nothing": (put("largest_saving", 0.1, world="flat", strategy="NGI"),),
    "none_saves_with_paro_cc": (put("largest_saving", 0.1, world="hier", strategy="GIN"),),
    "ngi_and_gni_save": (put("largest_saving", 0.1, world="flat", strategy="GIN"),),
    "pareto_front": (
        put("num_on_front", 1, **SWEEP, world="flat", strategy="III"),
        put("num_on_front", 0, **SWEEP, world="hier", strategy="ING"),
    ),
    "iig_as_fast_as_iii": (put("comm_s", 9.0, **COSTS, strategy="IIG"),),
    "memory_in_order": tuple(
        put("memory_bytes", 1e15, **COSTS, strategy=each) for each in ("NGG", "NIG", "GGG", "IIG")
    ),
}
FOUND_OTHERWISE = "coarser_states_save_nothing"
"""The paper's reason does not hold where a collective of all GPUs is one ring."""


@cache
def whole() -> pd.DataFrame:
    return table_of(task)


def held() -> pd.DataFrame:
    """Return a table on which everything holds: nothing is saved, and by whom is not asked."""
    return whole().assign(largest_saving=whole()["largest_saving"].clip(upper=0.0))


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_holds_fails_and_needs_its_rows(claim: Claim) -> None:
    holding = held() if claim.id == FOUND_OTHERWISE else whole()
    for spoil in SPOILT[claim.id]:
        judge(task, claim, holds=holding, fails=spoil(holding))
    alone = {part: word(claim, rows) for part, rows in whole().groupby("part")}
    assert list(alone.values()).count(Word.UNTESTED) == 1, alone


def test_ngi_and_gni_are_faster_than_what_is_kept_for_them() -> None:
    """NGI: Y + X once after a ring of every micro-batch; NGG has another ring of all GPUs."""
    rows = whole().query("part == 'sweep' and world == 'flat' and effective == 0")
    saving = rows.set_index("strategy")["largest_saving"]
    assert set(saving[saving > 0.0].index) == {"NGI", "GNI"}
    assert saving["NGI"] == pytest.approx(0.462, abs=0.001)
    claim = claim_of(task, FOUND_OTHERWISE)
    assert word(claim, whole()) is Word.CONTRADICTED
