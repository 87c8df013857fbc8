"""Claims' samples may move by less than their seeds spread, and by no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.cohorts import Cohort
from harness.declare.profiles import Profile
from harness.declare.statistics import InvalidQuantity
from harness.declare.table import Table, param
from harness.declare.task import Task
from harness.provenance.agreement import Spread
from harness.provenance.spread import Tables, spread_of
from harness.store.trial import Trial, grid_of
from harness.store.record import Record
from tests.harness.hand_made import EXPERIMENT, crash, make_claim, make_task, mean
from tests.harness.inline_lab import make_record


def record(seed: int, *ys: float | None) -> Record:
    trial = Trial(EXPERIMENT, {"seed": seed}, "smoke")
    return make_record(trial, rows=[{"y": y} for y in ys])


def judge(task: Task, new: Record, *olds: Record) -> Spread:
    """Return what the claims say of one new record, three of spread 1 standing by default."""
    old = {each.key: each for each in olds or [record(seed, float(seed)) for seed in range(3)]}
    return spread_of([task], Tables(lambda trial: old.get(trial.key), "smoke"), new)


@pytest.mark.parametrize(
    ("y", "within"), [(1.9, True), (0.1, True), (2.0, False), (0.0, False), (9.0, False)]
)
def test_a_sample_moves_by_less_than_its_seeds_spread(y: float, within: bool) -> None:
    found = judge(make_task(make_claim()), record(1, y))
    assert found.within == within
    assert found.reason == f"demo/tab01:c moves by {abs(y - 1.0):.2g}, its seeds spread by 1"


def test_the_spread_is_that_of_the_committed_records() -> None:
    # With the new record the seeds would spread by 5.2, which would let it pass.
    assert not judge(make_task(make_claim()), record(2, 10.0)).within


def test_the_claim_that_moves_most_decides() -> None:
    steady = make_claim(id="steady", quantity=lambda table: 1.0)
    found = judge(make_task(steady, make_claim(id="moves")), record(1, 5.0))
    assert (found.within, found.reason[:16]) == (False, "demo/tab01:moves")


def test_where_no_sample_moves_it_says_so() -> None:
    steady = make_claim(quantity=lambda table: 1.0)
    found = judge(make_task(steady), record(1, 5.0))
    assert found == Spread(within=True, reason="no claim's sample moves")


def test_seeds_that_agree_leave_no_room() -> None:
    olds = [record(seed, 1.0) for seed in range(3)]
    assert not judge(make_task(make_claim()), record(1, 1.001), *olds).within
    assert judge(make_task(make_claim()), record(1, 1.00005), *olds).within


def test_claims_of_other_profiles_are_passed_over() -> None:
    elsewhere = make_claim(id="elsewhere", profiles=("gpu",))
    flat = make_claim(id="flat", quantity=lambda table: 1.0)
    assert judge(make_task(elsewhere, flat), record(1, 5.0)).within
    found = judge(make_task(elsewhere), record(1, 1.001))
    assert found == Spread(within=False, reason="no claim at smoke rests on it")
    assert spread_of([], Tables(lambda trial: None, "smoke"), record(1, 1.0)).within is False


def test_a_trial_that_no_table_shows_is_not_judged_by_it() -> None:
    found = judge(make_task(make_claim()), record(7, 5.0))
    assert found == Spread(within=False, reason="no claim at smoke rests on it")


@pytest.mark.parametrize(("y", "within"), [(0.50001, True), (0.501, False)])
def test_without_two_seeds_the_limit_is_that_of_rounding(y: float, within: bool) -> None:
    assert judge(make_task(make_claim()), record(0, y), record(0, 0.5)).within == within
    whole = make_claim(deterministic=True, quantity=lambda table: float(table["y"].iloc[0]))
    olds = (record(0, 0.5), record(1, 9.0))
    assert judge(make_task(whole), record(0, y), *olds).within == within


def test_each_step_of_an_ordering_has_its_own_spread() -> None:
    """The first step spreads by 1, the second by nothing: there a move of 0.5 is too much."""
    rows = {0: (0.0, 1.0, 2.0), 1: (0.0, 2.0, 3.0), 2: (0.0, 3.0, 4.0)}
    olds = [record(seed, *ys) for seed, ys in rows.items()]
    task = _wide(
        make_claim(form="ordering", threshold=0.0, quantity=lambda table: list(table["y"]))
    )
    assert judge(task, record(1, 0.0, 2.5, 3.5), *olds).within
    found = judge(task, record(1, 0.0, 2.0, 3.5), *olds)
    assert found.reason == "demo/tab01:c moves by 0.5, its seeds spread by 0"
    assert not found.within


@pytest.mark.parametrize(("cohort", "within"), [("first", False), ("cohort-1", True)])
def test_each_cohort_is_judged_by_the_spread_of_its_own_seeds(cohort: str, within: bool) -> None:
    """Those of the first agree, those of the other spread by 1: a move of 0.5 is little there."""
    cohorts: dict[Profile, tuple[Cohort, ...]] = {
        "smoke": (Cohort(number=1, num_seeds=3, since="abc"),)
    }
    experiment = replace(EXPERIMENT, cohorts=cohorts)
    task = replace(make_task(make_claim()), reads=(experiment,))
    seeds = {name: grid_of(experiment, "smoke", cohort=name) for name in ("first", "cohort-1")}
    old = {trial.key: make_record(trial, rows=[{"y": 1.0}]) for trial in seeds["first"]}
    for number, trial in enumerate(seeds["cohort-1"]):
        old[trial.key] = make_record(trial, rows=[{"y": float(number)}])
    trial = seeds[cohort][1]
    new = make_record(trial, rows=[{"y": 1.5}])
    found = spread_of([task], Tables(lambda trial: old.get(trial.key), "smoke"), new)
    assert (found.within, found.reason) == (
        within,
        f"demo/tab01:c moves by 0.5, its seeds spread by {int(within)}",
    )


def with_view(task: Task, view: Callable[[Mapping[str, pd.DataFrame]], pd.DataFrame]) -> Task:
    return replace(task, table=replace(task.table, make=view))


def _wide(claim: Claim) -> Task:
    """Return a task whose table has several rows per seed."""
    task = make_task(claim)

    def view(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        (frame,) = frames.values()
        return frame.assign(k=frame.groupby("seed").cumcount())

    columns = (*task.table.columns, param("k", int, "The row of its seed."))
    return replace(task, table=Table.of(columns, make=view))


def only_small(table: pd.DataFrame) -> float:
    """Return the mean of y, which has no meaning above 5."""
    if mean(table) > 5.0:
        raise InvalidQuantity("beyond 5")
    return mean(table)


def test_a_quantity_that_loses_its_value_has_moved() -> None:
    found = judge(make_task(make_claim(quantity=only_small)), record(1, 9.0))
    assert not found.within
    assert found.reason == "demo/tab01:c is a number then, InvalidQuantity: beyond 5 now"


def test_a_quantity_without_value_on_either_side_has_not_moved() -> None:
    assert judge(make_task(make_claim(quantity=crash)), record(1, 9.0)).within


def test_infinite_samples_move_too_far() -> None:
    def inverse(table: pd.DataFrame) -> float:
        return 1.0 / mean(table) if mean(table) else math.inf

    task = make_task(make_claim(quantity=inverse))
    olds = [record(seed, float(seed + 1)) for seed in range(3)]
    assert not judge(task, record(1, 0.0), *olds).within
    # That of another seed was infinite before and stays so: the spread cannot be told then.
    olds[0] = record(0, 0.0)
    assert not judge(task, record(1, 2.1), *olds).within


def test_a_table_that_cannot_be_rebuilt_shows_nothing() -> None:
    def view(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        raise KeyError("width")

    task = with_view(make_task(make_claim()), view)
    found = judge(task, record(1, 1.001))
    assert found == Spread(within=False, reason="demo/tab01 cannot be rebuilt: KeyError")


def test_samples_of_other_seeds_cannot_be_compared() -> None:
    def view(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        (frame,) = frames.values()
        return frame[frame["y"] < 3.0]

    task = with_view(make_task(make_claim()), view)
    found = judge(task, record(1, 5.0))
    assert found == Spread(within=False, reason="demo/tab01:c has other seeds or steps")
