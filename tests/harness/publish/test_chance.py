"""How often chance alone would reproduce a claim, against tests that others wrote."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from harness.declare import (
    CPU,
    Claim,
    Criterion,
    Experiment,
    Factor,
    Params,
    Profile,
    Scope,
    Table,
    Tables,
    Task,
    at_least,
    by_theory,
    columns_of,
    doc,
    more_than,
    ordering,
    pick,
    seed,
    value,
)
from harness.declare.verdict import Word, evaluate
from harness.publish.chance import WEAK_ABOVE, Shuffle, chance_code, chance_of
from harness.store.meta import TOO_FEW

NUM_TABLES = 200
OURS = by_theory(profiles=CPU)


class Run(Params):
    method: str = doc("How.")
    rate: float = doc("Learning rate.")
    seed: int = seed("Noise.")


def no_grid(profile: Profile) -> Iterator[Run]:
    return iter(())


RUNS = Experiment("made/runs", version=1, params=Run, grid=no_grid, run="trial:run")
COLUMNS = (*columns_of(Run), value("y", float, "Result."))


def gain(table: pd.DataFrame) -> float:
    ours, theirs = pick(table, method="ours"), pick(table, method="theirs")
    return float(ours["y"].mean() - theirs["y"].mean())


def steps(table: pd.DataFrame) -> list[float]:
    return list(table.sort_values("rate")["y"])


def one_sided(table: pd.DataFrame) -> float:
    """Return how much larger y is on the positive side of the rate, of a walk in its order."""
    assert table["rate"].is_monotonic_increasing
    return float((table["y"] * np.sign(table["rate"])).sum())


def claim_of(scope: Scope, criterion: Criterion) -> Claim:
    return Claim(id="c", statement="It is so.", where="", criterion=criterion, scope=scope)


GAIN = claim_of(OURS.comparing("method"), more_than(gain, 0.0, "1"))


def task_of(claim: Claim, table: Table | None = None) -> Task:
    return Task("made/tab01", reads=(RUNS,), table=table or Table.of(*COLUMNS), claims=(claim,))


def paired(differences: np.ndarray) -> pd.DataFrame:
    """Return a table in which ours is ahead of theirs by these differences, seed by seed."""
    rows = [
        {"method": method, "rate": 1.0, "seed": number, "y": base + ahead * difference}
        for number, difference in enumerate(differences)
        for base in [float(number)]
        for method, ahead in (("ours", 0.5), ("theirs", -0.5))
    ]
    return pd.DataFrame(rows)


def chance(claim: Claim, table: pd.DataFrame, columns: Table | None = None) -> tuple:
    assert claim.scope.factor is not None
    shuffle = Shuffle(task_of(claim, columns), table, {RUNS.id: table}, claim.scope.factor)
    found = chance_of(claim, shuffle)
    return found.rate, found.num_relabellings, found.reason


@pytest.mark.parametrize("num_seeds", [5, 10])
def test_without_an_effect_few_claims_read_reproduced_and_not_weak(num_seeds: int) -> None:
    dice = np.random.default_rng(20241120)
    strong = 0
    for _ in range(NUM_TABLES):
        table = paired(dice.normal(size=num_seeds))
        word = evaluate(GAIN, table, seed="seed", profile="cpu").word
        if word == Word.REPRODUCED:
            rate, _, _ = chance(GAIN, table)
            strong += rate <= WEAK_ABOVE
    assert strong <= 0.05 * NUM_TABLES


@pytest.mark.parametrize("num_seeds", [5, 10])
def test_an_effect_of_three_spreads_is_never_weak(num_seeds: int) -> None:
    dice = np.random.default_rng(20241121)
    for _ in range(20):
        table = paired(dice.normal(loc=3.0, size=num_seeds))
        rate, count, _ = chance(GAIN, table)
        assert rate <= WEAK_ABOVE, (rate, count)


def test_two_levels_are_the_sign_flips_of_a_paired_t_test() -> None:
    differences = np.random.default_rng(3).normal(loc=0.8, size=6)
    flipped = np.array(list(itertools.product([1, -1], repeat=6)))[1:] * differences
    p = stats.ttest_1samp(flipped, 0.0, axis=1, alternative="greater").pvalue
    rate, count, _ = chance(GAIN, paired(differences))
    assert count == 63
    assert rate == pytest.approx(float(np.mean(p < 0.025)))
    assert rate > 0


def test_orders_of_three_levels_are_all_tried() -> None:
    claim = claim_of(OURS.comparing("rate"), ordering(steps, "1"))
    # Each step is the same in every seed, so that any order is certain of itself.
    rows = [
        {"method": "ours", "rate": rate, "seed": number, "y": rate}
        for number in range(3)
        for rate in (1.0, 2.0, 3.0)
    ]
    rate, count, _ = chance(claim, pd.DataFrame(rows))
    assert count == 6**3 - 1
    assert rate == 0.0


def test_sides_are_swapped_as_wholes() -> None:
    claim = claim_of(OURS.mirroring("rate"), more_than(one_sided, 0.0, "1"))
    rows = [
        {"method": "ours", "rate": rate, "seed": number, "y": 1.0 if rate > 0 else 0.1 * number}
        for number in range(5)
        for rate in (-2.0, -1.0, 0.0, 1.0, 2.0)
    ]
    rate, count, _ = chance(claim, pd.DataFrame(rows))
    assert count == 31
    assert rate <= 1 / 31


def best_rates(tables: Tables) -> pd.DataFrame:
    """Choose per method the rate with the least mean over seeds: a view wants all of them."""
    runs = tables[RUNS.id]
    means = runs.groupby(["method", "rate"])["y"].mean()
    best = {name: group.idxmin()[1] for name, group in means.groupby(level="method")}
    return runs[runs["rate"] == runs["method"].map(best)].reset_index(drop=True)


def test_choices_of_a_view_are_made_again() -> None:
    """Compared with loops that swap methods and choose rates in plain numpy."""
    dice = np.random.default_rng(4)
    y = dice.normal(size=(6, 2, 4))
    rows = [
        {"method": name, "rate": float(rate), "seed": number, "y": y[number, place, rate]}
        for number in range(6)
        for place, name in enumerate(("ours", "theirs"))
        for rate in range(4)
    ]
    runs = pd.DataFrame(rows)
    claim = claim_of(OURS.comparing("method"), at_least(gain, -0.2, "1"))
    task = task_of(claim, Table.of(*COLUMNS, make=best_rates))
    table = best_rates({RUNS.id: runs})
    found = chance_of(claim, Shuffle(task, table, {RUNS.id: runs}, Factor("method")))

    def gains(order: tuple[int, ...]) -> np.ndarray:
        swapped = np.stack([y[n, ::-1] if swap else y[n] for n, swap in enumerate(order)])
        best = swapped.mean(axis=0).argmin(axis=1)
        return swapped[:, 0, best[0]] - swapped[:, 1, best[1]]

    original = gains((0,) * 6)
    words = []
    for order in itertools.product((0, 1), repeat=6):
        numbers = gains(order)
        if not np.allclose(numbers, original):
            low, _ = stats.t.interval(0.95, 5, numbers.mean(), stats.sem(numbers))
            words.append(low >= -0.2)
    assert found.num_relabellings == len(words)
    assert found.rate == pytest.approx(np.mean(words))


def test_what_cannot_be_shuffled_says_why() -> None:
    table = paired(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert chance(GAIN, table[table["seed"] < 3]) == (None, 0, TOO_FEW)
    hole = table[(table["seed"] > 0) | (table["method"] == "ours")]
    assert "not every seed has" in chance(GAIN, hole)[2]
    absent = replace(GAIN, scope=OURS.comparing("colour"))
    assert chance(absent, table)[2] == "the table has no column colour"


def crash_where_swapped(table: pd.DataFrame) -> float:
    if table["method"].iloc[0] != "ours":
        raise TypeError("a broken quantity")
    return gain(table)


def test_a_broken_quantity_is_no_verdict_of_chance() -> None:
    claim = claim_of(OURS.comparing("method"), more_than(crash_where_swapped, 0.0, "1"))
    with pytest.raises(TypeError, match="a broken quantity"):
        chance(claim, paired(np.arange(5.0)))


def test_only_the_levels_compared_change_places() -> None:
    table = paired(np.full(5, 2.0) + np.arange(5) / 10)
    third = table[table["method"] == "theirs"].assign(method="third", y=100.0)
    both = pd.concat([table, third])
    two = replace(GAIN, scope=OURS.comparing("method", "ours", "theirs"))
    assert chance(two, both) == chance(GAIN, table)
    assert chance(GAIN, both) != chance(GAIN, table)


def test_another_question_has_another_code() -> None:
    task = task_of(GAIN)
    other = replace(GAIN, scope=OURS.comparing("rate"))
    assert chance_code(task, GAIN) != chance_code(task, other)
    assert chance_code(task, GAIN) == chance_code(task, replace(GAIN, statement="Words."))
