"""Rules of the pilots, on made-up numbers; the grids compare all methods alike."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare import PILOT_SEEDS
from reproductions.fg2u.image_sets import pilot_quantities as q
from reproductions.fg2u.image_sets.cells import TRIED
from reproductions.fg2u.image_sets.experiment import METHODS
from reproductions.fg2u.image_sets.pilot_experiment import RATE_STEPS, sets_grid

HOLDS = {"real": 0.5, "rgu": 0.9, "trgu": 0.8, "hessian-free": 0.7, "neumann": 0.7}


def rows_of(candidate: str, scores: dict[str, float], spread: float = 0.0) -> pd.DataFrame:
    """Return two seeds, between which exact gradients differ by a spread."""
    return pd.DataFrame(
        {"candidate": candidate, "method": method, "seed": seed,
         "test_accuracy": score + spread * seed * (method == "rgu")}
        for method, score in scores.items()
        for seed in (0, 1)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "spread", "able"),
    [
        ({}, 0.0, True),
        ({"rgu": 0.84}, 0.0, False),
        ({"real": 0.71}, 0.0, False),
        ({"neumann": 0.885}, 0.0, False),
        # A lead of 3 points in the mean, and of 2 less a standard deviation.
        ({"trgu": 0.88}, 0.03, False),
    ],
)
def test_a_setting_tells_methods_apart(scores: dict[str, float], spread: float, able: bool) -> None:
    assert q.can_tell(rows_of("any", HOLDS | scores, spread)) is able


def test_the_smallest_setting_that_can_tell_is_chosen() -> None:
    first, second, *others = TRIED
    tables = [rows_of(first, HOLDS | {"rgu": 0.8})]
    tables += [rows_of(name, HOLDS) for name in (second, *others)]
    assert q.smallest(pd.concat(tables)) == second
    assert not q.smallest(pd.concat([rows_of(n, HOLDS | {"rgu": 0.8}) for n in TRIED]))


def test_pilots_give_every_method_the_same_step_sizes_and_no_seed_of_a_run() -> None:
    points = list(sets_grid("cpu"))
    rates = [point for point in points if point.steps == RATE_STEPS]
    by_method = {name: {p.lr for p in rates if p.method == name} for name in METHODS}
    assert len({frozenset(each) for each in by_method.values()}) == 1
    assert {point.seed for point in points} <= set(PILOT_SEEDS)
    # No candidate is judged by how (FG)2U does in it.
    assert {p.steps for p in points if p.method == "fg2u"} == {RATE_STEPS}
