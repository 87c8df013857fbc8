"""Every claim of this paper, on tables where it holds, fails, and has too few seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.registry import load_registry
from reproductions.supar.coordinates.table import BLOCKS
from tests.reproductions.supar.hand_made import (
    SEEDS,
    START,
    TABLES,
    coordinates,
    curves,
    sweep,
)
from tests.verdicts import bad, claim_of, decide, judge

LIBRARY = load_registry()
TASKS = {name: LIBRARY.tasks[name] for name in TABLES}
EVERY_CLAIM = [
    pytest.param(task, claim, id=f"{task.id}:{claim.id}")
    for task in TASKS.values()
    for claim in task.claims
]


def word(task: Task, claim: Claim, table: pd.DataFrame) -> tuple[Word, str]:
    verdict = decide(task, claim, table)
    return verdict.word, verdict.reason


def named(task: str, claim: str) -> tuple[Task, Claim]:
    found = TASKS[f"supar/{task}"]
    return found, claim_of(found, claim)


@pytest.mark.parametrize(("task", "claim"), EVERY_CLAIM)
def test_claim_holds_and_fails_on_tables_made_for_it(task: Task, claim: Claim) -> None:
    judge(task, claim, holds=TABLES[task.id](True), fails=TABLES[task.id](False))
    assert not decide(task, claim, TABLES[task.id](False)).reason


LOSSES = ["train_loss", "val_loss", "test_loss"]


PARTS: dict[str, dict[str, pd.DataFrame]] = {
    "fig06:sp_and_mup_cost_more": {
        "SP": curves({"sp": 0.0, "mup": 1.0, "supar": 0.0}),
        "μP": curves({"sp": 1.0, "mup": 0.0, "supar": 0.0}),
    },
    "fig12:gmp_sp_and_mup_rise": {
        "SP": curves({"sp": 0.0, "mup": 1.0}, method="gmp"),
        "μP": curves({"sp": 1.0, "mup": 0.0}, method="gmp"),
    },
    "fig14:halves_cost_more": {
        "μP + init of SμPar": curves({"mup_init_only": 0.0, "mup_lr_only": 1.0, "supar": 0.0}),
        "μP + rate of SμPar": curves({"mup_init_only": 1.0, "mup_lr_only": 0.0, "supar": 0.0}),
    },
}
"""Tables in which one part of a claim ends in a tie, by that part."""


@pytest.mark.parametrize("address", PARTS)
def test_a_claim_of_several_parts_needs_each(address: str) -> None:
    for part, table in PARTS[address].items():
        verdict = decide(*named(*address.split(":")), table)
        assert (verdict.word, verdict.deciding) == (Word.UNDECIDED, part)


@pytest.mark.parametrize(
    ("claim", "column"),
    [("sp_and_mup_vanish", "mean_abs_activation"), ("gradients_keep_size", "grad_x_rms")],
)
def test_both_blocks_count_in_figure_5(claim: str, column: str) -> None:
    scheme = "mup" if claim.startswith("sp_and_mup") else "supar"
    for block, name in BLOCKS.items():
        table = coordinates(True)
        off = (table["scheme"] == scheme) & (table["block"] == block) & (table["density"] < 0.1)
        table.loc[off, column] *= 10.0 if scheme == "supar" else 1e4
        task, found = named("fig05", claim)
        verdict = decide(task, found, table)
        assert verdict.word is bad(found)
        assert name in verdict.deciding


def diverged(table: pd.DataFrame, scheme: str, *, seeds: Sequence[int] = SEEDS) -> pd.DataFrame:
    """Return a sweep where the dense optimum of a scheme diverges at the lowest density."""
    at = (table["scheme"] == scheme) & (table["log2_lr"] == START[scheme])
    table.loc[at & (table["density"] == 0.0625) & table["seed"].isin(seeds), LOSSES] = math.nan
    return table


def test_a_dense_optimum_that_diverges_when_sparse_decides_both_claims_on_transfer() -> None:
    dearer = named("fig06", "sp_and_mup_cost_more")
    verdict = decide(*dearer, diverged(sweep(True), "sp"))
    assert (verdict.word, verdict.deciding, verdict.num_seeds) == (Word.SUPPORTED, "μP", 5)
    verdict = decide(*named("fig06", "supar_transfers"), diverged(curves({"supar": 1.0}), "supar"))
    assert (verdict.word, verdict.measured) == (Word.CONTRADICTED, None)
    assert "infinite" in verdict.reason
    verdict = decide(*dearer, diverged(sweep(True), "sp", seeds=(1,)))
    assert verdict.word is Word.UNDECIDED
    assert verdict.reason == "the quantity is infinite in 1 of 5 seeds: it has no mean"


def test_a_diverged_rival_is_worse_and_a_diverged_supar_is_not_better() -> None:
    task, claim = named("fig10", "supar_is_best")
    for scheme, expected in (("mup", Word.SUPPORTED), ("supar", Word.CONTRADICTED)):
        table = TABLES[task.id](True)
        gone = (table["scheme"] == scheme) & (table["density"] == 0.125)
        table.loc[gone, LOSSES] = math.nan
        assert word(task, claim, table)[0] is expected


STEADY = dict.fromkeys(("sp", "mup", "supar"), 0.0)
HALVES = dict.fromkeys(("mup_init_only", "mup_lr_only", "supar"), 0.0)
BOTH_METHODS = pd.concat(
    curves(dict.fromkeys(STEADY, drift), method=method)
    for method, drift in (("gmp", 1.0), ("rigl", -1.0))
)
# 0.8 octaves beyond SmuPar are less than a step, but they cost something.
DEARER = curves({**HALVES, "mup_lr_only": 0.2}, x="log2_sigma")
SCENARIOS = [
    ("fig12:gmp_sp_and_mup_rise", BOTH_METHODS, Word.SUPPORTED),
    ("fig12:rigl_sp_and_mup_rise", BOTH_METHODS, Word.CONTRADICTED),
    ("fig07:sp_or_mup_unstable", curves(STEADY, x="log2_sigma", rise=0.02), Word.CONTRADICTED),
    ("fig07:sp_or_mup_unstable", curves(STEADY, x="log2_sigma", rise=-0.02), Word.CONTRADICTED),
    ("fig07:sp_or_mup_unstable", curves({**STEADY, "mup": 0.6}, x="log2_sigma"), Word.SUPPORTED),
    ("fig13:lr_only_fails", DEARER, Word.SUPPORTED),
    ("fig13:init_only_fails", curves(HALVES, x="log2_sigma"), Word.UNDECIDED),
]


def test_a_claim_follows_what_it_says() -> None:
    """Methods are told apart; a monotone loss is not erratic; a dearer transfer is a failure."""
    for address, table, expected in SCENARIOS:
        assert word(*named(*address.split(":")), table)[0] is expected, address


def test_optimum_on_the_edge_decides_nothing_and_is_named() -> None:
    task, claim = named("fig07", "supar_stays")
    table = TABLES[task.id](True).query("log2_sigma >= -6")
    verdict, reason = word(task, claim, table)
    assert verdict is Word.UNDECIDED
    assert reason.startswith("supar at density") and "edge at 2^-6" in reason
