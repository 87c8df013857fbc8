"""Claims on predictions: where they hold, fail, or lack rows; tables, layouts and figures."""

from __future__ import annotations

from functools import cache

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.reference import load_reference
from harness.declare.task import Task
from harness.declare.verdict import Word
from reproductions.paro.predictions import (
    fig03,
    fig04,
    fig06,
    headline,
    tab08,
    tab09,
    tab11,
    tab12,
    tab13,
    tab14,
    tab15,
)
from reproductions.paro.predictions.experiment import QUOTED
from tests.checkout import PAPERS
from tests.reproductions.paro import tables
from tests.verdicts import bad, judge

TASKS = tuple(
    module.task
    for module in (
        *(tab08, tab09, tab11, tab12, tab13, tab14, tab15),
        *(fig03, fig04, fig06, headline),
    )
)
CLAIMS = [pytest.param(t, c, id=f"{t.id}:{c.id}") for t in TASKS for c in t.claims]
BASELINES = {"ZeRO-2": "NGG", "ZeRO-3": "GGG"}
NAMED = {"tab08": tab08.RECOMMENDED, "tab09": tab09.SINGLED_OUT}
"""Whom the text names; with a shared link others rank first."""


@cache
def table_of(task: Task) -> pd.DataFrame:
    """The paper's inputs by formula."""
    return tables.table_of(task)


def made_to_hold(task: Task) -> pd.DataFrame:
    """What the formulas give, but for questions that they answer with no."""
    table = table_of(task)
    if "compute_s" in table:
        return table.assign(compute_s=1.0)
    if "speedup_ratio" in table:
        ratios = table["strategy"].map({"IIG": 0.92, "NIG": 0.84})
        return table.assign(speedup_ratio=ratios.fillna(0.63))
    first = table["trainable"].eq("3/1000") & table["strategy"].eq("ING")
    for share, names in NAMED.get(task.word, {}).items():
        named = table["trainable"].eq(share) & table["strategy"].isin(names)
        first |= named & table["nic"].eq("shared")
    return table.assign(rank=table["rank"].mask(first, 1))


def upside_down(table: pd.DataFrame) -> pd.DataFrame:
    """Who is fast is slow, who fits does not; IIG differs from III, and no time gives a gain."""
    if "compute_s" in table:
        return table.assign(
            ratio_at_compute=table["ratio_at_compute"] * 1.01,
            compute_s=1.1**table.index,
        )
    if "speedup_ratio" in table:
        table = table.assign(speedup_ratio=-table["strategy"].map({"IIG": 3, "NIG": 2}).fillna(1))
    changed = table.assign(
        comm_s=1 / table["comm_s"],
        memory_bytes=1e13 - table["memory_bytes"],
        fits=~table["fits"].astype(bool),
        rank=9 - table["rank"],
        samples_per_s_at_most=1 / table["samples_per_s_at_most"],
    )
    iig = changed["strategy"].eq("IIG")
    return changed.assign(comm_s=changed["comm_s"].mask(iig, changed["comm_s"] * 1.1))


@pytest.mark.parametrize(("task", "claim"), CLAIMS)
def test_claim_holds_fails_and_needs_its_rows(task: Task, claim: Claim) -> None:
    table = table_of(task)
    judge(task, claim, holds=made_to_hold(task), fails=upside_down(table))
    assert tables.word(claim, table[table["strategy"] == "GIG"]) is Word.UNTESTED


DENIED = {
    *("tab08:same_best_when_shared", "tab09:same_best_when_shared", "tab13:ing_is_best"),
    *("fig06:ratios_in_order", "headline:one_compute_time"),
}
"""Questions of ours that the formulas answer with no."""


def test_what_the_formulas_deny_is_said_to_be_so() -> None:
    found = {
        f"{task.word}:{claim.id}": claim.scope.own_question
        for task in TASKS
        for claim in task.claims
        if tables.word(claim, table_of(task)) is bad(claim)
    }
    assert found == dict.fromkeys(DENIED, True)


def test_quoted_gains_are_those_of_the_text() -> None:
    reference = load_reference(PAPERS / "paro")
    of_tables = reference[reference["task"].isin(["tab11", "tab12", "tab13"])]
    stated = {
        (*row.series.split(), BASELINES[row.y_name.split("_")[-1]], row.x, row.value)
        for row in of_tables.itertuples()
    }
    shares = {"1": 1.0, "1/16": 0.0625, "3/1000": 0.003}
    ours = {(g.model, g.strategy, g.baseline, shares[g.trainable], g.percent) for g in QUOTED}
    assert ours == stated
