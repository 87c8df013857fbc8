"""What a claim on predictions measures is what it says: strategies are spoilt one at a time."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.verdict import Word
from reproductions.paro.predictions.experiment import Question
from tests.reproductions.paro.predictions.test_claims import table_of
from tests.reproductions.paro.predictions.test_constructed import ORDERS, claim_of
from tests.reproductions.paro.tables import rows_of, word
from tests.verdicts import bad, good

JUST_BEHIND = 1.0001
SAID = {
    **ORDERS,
    "fig06:order_with_paro_cc": ORDERS["fig06:order_with_one_ring"],
    "tab08:nii_and_nig_are_best": ("NII NGG", "NIG NGG"),
}
"""Claim -> each strategy that it has ahead, and one that may not be faster than it."""
ONE_BY_ONE = [(name, pair) for name, pairs in SAID.items() for pair in pairs]
SETTING = ["model", "trainable", "num_gpus", "nic", "micro_batch", "accumulation", "world"]


def behind(table: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """One strategy takes a little more time than another, in every setting; ranks follow."""
    found = table.set_index(SETTING)
    late = found[found["strategy"] == other]["comm_s"] * JUST_BEHIND
    few = found[found["strategy"] == other]["samples_per_s_at_most"] / JUST_BEHIND
    spoilt = found["strategy"].eq(one).to_numpy()
    found = found.assign(
        comm_s=found["comm_s"].mask(spoilt, late.reindex(found.index)),
        samples_per_s_at_most=found["samples_per_s_at_most"].mask(spoilt, few.reindex(found.index)),
    ).reset_index()
    ranks = found["comm_s"].where(found["rank"].notna()).groupby([found[c] for c in SETTING]).rank()
    return found.assign(rank=ranks)


@pytest.mark.parametrize(("name", "pair"), ONE_BY_ONE)
def test_claim_fails_where_one_strategy_falls_just_behind(name: str, pair: str) -> None:
    task, claim = claim_of(name)
    assert word(claim, table_of(task)) is good(claim)
    assert word(claim, behind(table_of(task), *pair.split())) is bad(claim)


def word_at(name: str, **changed: float) -> Word:
    """Return a claim's verdict at the paper's inputs but for some."""
    task, claim = claim_of(name)
    (experiment,) = task.reads
    point = Question(about="scaling" if task.word == "fig06" else "guideline", **changed)
    assert task.table.make is not None
    shown = task.table.make({experiment.id: rows_of(experiment, [point])})
    return word(claim, shown)


@pytest.mark.parametrize(
    ("name", "holds", "denied"),
    [
        # 57 GB of IIG, 130 GB of III.
        ("tab09:four_fit_in_80_gb", {"memory_gb": 57.0}, {"memory_gb": 56.8}),
        ("tab09:four_fit_in_80_gb", {"memory_gb": 129.9}, {"memory_gb": 130.1}),
        # 320 times faster within a group: 2 s over the trainable share.
        (
            "tab08:nii_and_nig_are_best",
            {"intra_gbit_per_s": 319 * 80.0},
            {"intra_gbit_per_s": 321 * 80.0},
        ),
        # At 16 GPUs IIG falls behind IGG, and NIG behind NGG.
        (
            "fig06:order_with_paro_cc",
            {"intra_gbit_per_s": 8.0 * 80},
            {"intra_gbit_per_s": 7.5 * 80},
        ),
    ],
)
def test_what_could_have_failed_does_where_the_page_says(
    name: str, holds: dict[str, float], denied: dict[str, float]
) -> None:
    assert word_at(name, **holds) is Word.SUPPORTED
    assert word_at(name, **denied) is Word.CONTRADICTED
