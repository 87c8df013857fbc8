"""The pilots: the run has what their committed tables say; the grids compare all methods alike."""

from __future__ import annotations

import pandas as pd

from harness.declare import PILOT_SEEDS
from reproductions.fg2u.image_sets.cells import CHOSEN, LONGER_RATES, RATES, SECOND_RATES, TRIED
from reproductions.fg2u.image_sets.experiment import BIASED, METHODS
from reproductions.fg2u.image_sets.pilot_experiment import RATE_STEPS, sets_grid
from tests.checkout import ROOT

LEAST, ABOVE_REAL, ABOVE_BIASED = 0.85, 0.2, 0.02
"""Accuracy of exact gradients, and their leads."""


def committed(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / "fg2u" / f"{name}.cpu.csv")


def can_tell(rows: pd.DataFrame) -> bool:
    """Return whether exact gradients show in a candidate what the paper shows of them."""
    scores = rows.pivot(index="seed", columns="method", values="test_accuracy").dropna()
    exact = scores["rgu"]
    over_real = (exact - scores["real"]).mean()
    gains = [exact - scores[name] for name in BIASED]
    clear = all(gain.mean() - gain.std() >= ABOVE_BIASED for gain in gains)
    return bool(exact.mean() >= LEAST and over_real >= ABOVE_REAL and clear)


def test_the_smallest_setting_that_can_tell_methods_apart_is_chosen() -> None:
    table = committed("pilot_nets")
    able = (name for name in TRIED if can_tell(table[table["candidate"] == name]))
    assert next(able, "") == CHOSEN


def test_every_method_has_the_step_size_of_its_least_outer_loss() -> None:
    table = committed("pilot_rates")
    chosen = {"first": RATES, "longer": LONGER_RATES, "second": SECOND_RATES}
    for phase, rates in chosen.items():
        rows = table[table["phase"] == phase]
        losses = rows.pivot(index="lr", columns="method", values="outer_loss")
        assert losses.idxmin().to_dict() == dict(rates), phase


def test_pilots_give_every_method_the_same_step_sizes_and_no_seed_of_a_run() -> None:
    points = list(sets_grid("cpu"))
    rates = [point for point in points if point.steps == RATE_STEPS]
    by_method = {name: {p.lr for p in rates if p.method == name} for name in METHODS}
    assert len({frozenset(each) for each in by_method.values()}) == 1
    assert {point.seed for point in points} <= set(PILOT_SEEDS)
    # No candidate is judged by how (FG)2U does in it.
    assert {p.steps for p in points if p.method == "fg2u"} == {RATE_STEPS}
