"""Claims: every form on tables that hold, fail, and have too few seeds; errors are no evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.declare.claims import (
    CHECK,
    STEPS,
    STRICT,
    Claim,
    Criterion,
    Scope,
    at_least,
    at_most,
    by_theory,
    claims,
    equal,
    less_than,
    monotone,
    more_than,
    ordering,
    ours,
    ratio,
    within,
)
from harness.declare.profiles import CPU_UP, PROFILES
from harness.declare.statistics import InvalidQuantity, MissingRows
from harness.declare.verdict import Measured, Verdict, Word, evaluate, measure, samples_per_seed
from harness.errors import SpecError
from tests.harness import hand_made
from tests.verdicts import bad, good, undecided


def numbers(table: pd.DataFrame) -> list[float]:
    return [float(v) for v in table.sort_values("k")["y"]]


def first(table: pd.DataFrame) -> float:
    return numbers(table)[0]


def make_claim(form: str, threshold: Any, **changes: Any) -> Claim:
    settings: dict[str, Any] = {
        "quantity": numbers if form == "ratio" or form in STEPS else first,
        "deterministic": form == "equal",
    }
    return hand_made.make_claim(form=form, threshold=threshold, **{**settings, **changes})


def table_of(samples: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return a table with one seed per sample; sample[k] is y at k."""
    rows = [(k, s, y) for s, sample in enumerate(samples) for k, y in enumerate(sample)]
    return pd.DataFrame(rows, columns=["k", "seed", "y"])


def decide(claim: Claim, samples: Sequence[Sequence[float]]) -> Verdict:
    return evaluate(claim, table_of(samples), seed="seed", profile="smoke")


# form, threshold, a table that holds, one that fails, one that overlaps
FORMS = [
    ("at_most", 1.0, [[0.5], [0.6], [0.55]], [[1.5], [1.6], [1.4]], [[0.5], [1.5], [1.1]]),
    ("at_least", 1.0, [[1.5], [1.6], [1.4]], [[0.5], [0.6], [0.5]], [[0.5], [1.5], [1.1]]),
    ("within", (1.0, 2.0), [[1.5], [1.6], [1.4]], [[2.5], [2.6], [2.5]], [[1.9], [2.1], [2.0]]),
    ("ordering", 0.0, [[1, 2, 3], [1, 2.1, 3], [1, 2, 3.1]],
     [[1, 3, 2], [1, 3, 2.1], [1, 3.1, 2]], [[1, 2, 3], [1, 2, 1], [1, 2, 2.5]]),
    ("monotone", 0.5, [[1, 0.9, 2], [1, 0.95, 2], [1, 0.9, 2.1]],
     [[2, 1, 3], [2, 1.1, 3], [2, 1, 3.1]], [[1, 0.5, 2], [1, 0.9, 2], [1, 0.1, 2]]),
    ("less_than", 1.0, [[0.5], [0.6], [0.55]], [[1.5], [1.6], [1.4]], [[0.5], [1.5], [1.1]]),
    ("more_than", 1.0, [[1.5], [1.6], [1.4]], [[0.5], [0.6], [0.5]], [[0.5], [1.5], [1.1]]),
    ("strict_ordering", 0.0, [[1, 2, 3], [1, 2.1, 3], [1, 2, 3.1]],
     [[1, 3, 2], [1, 3, 2.1], [1, 3.1, 2]], [[1, 2, 3], [1, 2, 1], [1, 2, 2.5]]),
    ("strict_monotone", 0.5, [[1, 0.9, 2], [1, 0.95, 2], [1, 0.9, 2.1]],
     [[2, 1, 3], [2, 1.1, 3], [2, 1, 3.1]], [[1, 0.5, 2], [1, 0.9, 2], [1, 0.1, 2]]),
    ("ratio", (0.5, 2.0), [[3, 3], [3, 2.9], [3.1, 3]],
     [[9, 3], [9, 2.9], [9.1, 3]], [[6, 3], [3, 3], [9, 3]]),
]  # fmt: skip


@pytest.mark.parametrize(("form", "threshold", "holds", "fails", "overlaps"), FORMS)
def test_each_form_holds_fails_overlaps_and_needs_three_seeds(
    form: str, threshold: Any, holds: Any, fails: Any, overlaps: Any
) -> None:
    claim = make_claim(form, threshold)
    assert decide(claim, holds).word is Word.REPRODUCED
    assert decide(claim, fails).word is Word.NOT_REPRODUCED
    assert decide(claim, overlaps).word is Word.INCONCLUSIVE
    few = decide(claim, holds[:2])
    assert few.word is Word.INCONCLUSIVE
    assert few.reason.startswith("2 seed(s)")
    assert few.num_seeds == 2
    assert decide(claim, fails[:1]).word is Word.INCONCLUSIVE


@pytest.mark.parametrize(("form", "threshold", "holds", "fails", "overlaps"), FORMS)
def test_each_form_of_a_check_holds_or_fails_and_knows_no_doubt(
    form: str, threshold: Any, holds: Any, fails: Any, overlaps: Any
) -> None:
    check = make_claim(form, threshold, grade="exact")
    assert [decide(check, samples).word for samples in (holds, fails, overlaps, holds[:2])] == [
        Word.HOLDS,
        Word.FAILS,
        Word.FAILS,
        Word.FAILS,
    ]
    once = make_claim(form, threshold, grade="exact", deterministic=True)
    assert decide(once, holds[:1]).word is Word.HOLDS
    assert decide(once, fails[:1]).word is Word.FAILS


# form, threshold, numbers on the threshold itself, a hair inside
EDGES = [
    ("less_than", 1.0, [1.0], [1.0 - 1e-12]),
    ("more_than", 1.0, [1.0], [1.0 + 1e-12]),
    ("strict_ordering", 0.0, [1.0, 2.0, 2.0], [1.0, 2.0, 2.0 + 1e-12]),
    ("strict_ordering", 0.5, [1.0, 0.5, 2.0], [1.0, 0.5 + 1e-12, 2.0]),
    ("strict_monotone", 0.0, [3.0, 3.0], [3.0, 3.0 + 1e-12]),
]
LOOSE = {
    "less_than": "at_most",
    "more_than": "at_least",
    "strict_ordering": "ordering",
    "strict_monotone": "monotone",
}


def test_every_strict_form_has_an_edge_and_a_loose_form() -> None:
    assert {form for form, *_ in EDGES} == set(LOOSE) == set(STRICT)


@pytest.mark.parametrize(("form", "threshold", "edge", "inside"), EDGES)
def test_the_threshold_itself_meets_no_strict_form(
    form: str, threshold: float, edge: list[float], inside: list[float]
) -> None:
    strict, loose = make_claim(form, threshold), make_claim(LOOSE[form], threshold)
    assert decide(strict, [edge] * 3).word is Word.NOT_REPRODUCED
    assert decide(loose, [edge] * 3).word is Word.REPRODUCED
    assert decide(strict, [inside] * 3).word is Word.REPRODUCED
    alone = make_claim(form, threshold, deterministic=True)
    assert decide(alone, [edge]).word is Word.NOT_REPRODUCED
    assert decide(alone, [inside]).word is Word.REPRODUCED


def test_interval_that_ends_on_a_strict_threshold_is_judged_by_the_side_it_lies_on() -> None:
    samples = [[0.5], [0.6], [0.55]]
    loose = decide(make_claim("at_most", 1.0), samples)
    assert loose.low is not None and loose.high is not None
    assert decide(make_claim("at_most", loose.high), samples).word is Word.REPRODUCED
    # Beyond it, but for one number: open to both sides.
    assert decide(make_claim("less_than", loose.high), samples).word is Word.INCONCLUSIVE
    assert decide(make_claim("at_most", loose.low), samples).word is Word.INCONCLUSIVE
    # All of it lies at the threshold or beyond: the word is fixed.
    assert decide(make_claim("less_than", loose.low), samples).word is Word.NOT_REPRODUCED
    assert decide(make_claim("more_than", loose.high), samples).word is Word.NOT_REPRODUCED
    assert decide(make_claim("more_than", loose.low), samples).word is Word.INCONCLUSIVE


@pytest.mark.parametrize(
    ("value", "word"), [(1.05, "REPRODUCED"), (0.9, "REPRODUCED"), (1.11, "NOT_REPRODUCED")]
)
def test_equal_allows_its_tolerance_and_no_more(value: float, word: str) -> None:
    claim = make_claim("equal", 1.0, tolerance=0.1)
    verdict = decide(claim, [[value]])
    assert (verdict.word, verdict.num_seeds, verdict.measured) == (word, 0, value)
    check = make_claim("equal", 1.0, tolerance=0.1, grade="exact")
    assert decide(check, [[value]]).word is (good(check) if word == "REPRODUCED" else bad(check))


def test_deterministic_claim_takes_the_whole_table_once() -> None:
    claim = make_claim("at_most", 5.0, deterministic=True, quantity=lambda table: len(table))
    verdict = decide(claim, [[1.0], [2.0], [3.0]])
    assert (verdict.word, verdict.measured) == (Word.REPRODUCED, 3.0)


def test_integers_of_numpy_are_numbers() -> None:
    claim = make_claim("at_most", 5.0, deterministic=True, quantity=lambda t: np.int64(3))
    assert decide(claim, [[1.0]]).word is Word.REPRODUCED


def test_ratio_is_measured_as_a_ratio() -> None:
    verdict = decide(make_claim("ratio", (0.5, 4.0)), [[6, 3], [6, 3], [6, 3]])
    assert verdict.measured == pytest.approx(2.0)
    assert verdict.low == pytest.approx(2.0)


def test_the_failing_step_is_the_one_reported() -> None:
    samples = [[0.0, 5.0, 3.0, 9.0], [0.0, 5.1, 3.0, 9.0], [0.0, 5.0, 3.1, 9.0]]
    verdict = decide(make_claim("ordering", 0.0), samples)
    assert verdict.word is Word.NOT_REPRODUCED
    assert verdict.measured == pytest.approx(-2.0)


def test_unlike_ratio_does_not_overflow() -> None:
    verdict = decide(make_claim("ratio", (0.5, 2.0)), [[1e300, 1e-5], [1e-300, 1e5]])
    assert verdict.word is Word.INCONCLUSIVE
    assert verdict.high is None


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (InvalidQuantity("on the edge"), Word.INCONCLUSIVE),
        (MissingRows("no rows"), Word.NOT_RUN),
        (KeyError("loss"), Word.ERROR),
        (ZeroDivisionError("x"), Word.ERROR),
        (SpecError("x"), Word.ERROR),
    ],
)
def test_what_a_quantity_raises_is_no_evidence(error: Exception, word: Word) -> None:
    def quantity(table: pd.DataFrame) -> float:
        raise error

    for grade in ("empirical", "exact"):
        claim = make_claim("at_most", 1.0, quantity=quantity, grade=grade)
        verdict = decide(claim, [[1.0]] * 3)
        # A check that cannot be taken does not hold; what was not run, or crashed, says nothing.
        assert verdict.word is (undecided(claim) if word is Word.INCONCLUSIVE else word)
        assert str(error) in verdict.reason


@pytest.mark.parametrize("value", ["text", None, []])
def test_quantity_of_another_shape_is_an_error(value: Any) -> None:
    claim = make_claim("at_most", 1.0, quantity=lambda table: value)
    assert decide(claim, [[1.0]] * 3).word is Word.ERROR


def test_equality_takes_one_number() -> None:
    claim = make_claim("equal", 1.0, quantity=lambda table: [1.0, 1.0])
    assert decide(claim, [[1.0]] * 3).word is Word.ERROR


NOISY = ([0.0, 0.3, 0.9], [0.3, 0.0, 0.9], [0.0, 0.3, 1.0])
"""Per seed three numbers: two about 0.1 and 0.2, the third well above."""


@pytest.mark.parametrize(
    ("form", "threshold", "word", "mean"),
    [
        ("at_least", -1.0, "REPRODUCED", 0.1),
        ("at_least", 0.15, "INCONCLUSIVE", 0.1),
        ("at_least", 0.7, "NOT_REPRODUCED", 0.1),
        ("at_most", 0.7, "NOT_REPRODUCED", 2.8 / 3),
        ("within", (-1.0, 2.0), "REPRODUCED", 2.8 / 3),
    ],
)
def test_each_of_several_numbers_meets_the_bound_by_its_own_interval(
    form: str, threshold: Any, word: str, mean: float
) -> None:
    verdict = decide(make_claim(form, threshold, quantity=numbers), NOISY)
    assert (verdict.word, verdict.measured) == (word, pytest.approx(mean))


def test_the_worst_seed_of_each_number_does_not_make_the_worst_number() -> None:
    # In every seed one number is 0, below the bound; over the seeds each lies about 0.5.
    samples = [[0.0, 0.75, 0.75], [0.75, 0.0, 0.75], [0.75, 0.75, 0.0]]
    least = make_claim("at_least", 0.1, quantity=lambda table: min(numbers(table)))
    assert decide(least, samples).word is Word.NOT_REPRODUCED
    assert decide(make_claim("at_least", 0.1, quantity=numbers), samples).word is Word.INCONCLUSIVE


@pytest.mark.parametrize(
    ("count", "word", "mean"),
    [(1, "REPRODUCED", 2.0), (2, "INCONCLUSIVE", 1.0), (3, "NOT_REPRODUCED", -1.0)],
)
def test_so_many_of_several_numbers_decide(count: int, word: str, mean: float) -> None:
    claim = make_claim("at_least", 0.5, quantity=numbers, at_least_of=count)
    verdict = decide(claim, [[-1.0, 2.0, 0.0], [-1.0, 2.0, 1.0], [-1.0, 2.0, 2.0]])
    assert (verdict.word, verdict.measured) == (word, pytest.approx(mean))


def test_more_numbers_are_asked_than_there_are() -> None:
    claim = make_claim("at_least", 0.0, quantity=numbers, at_least_of=3)
    assert decide(claim, [[1.0, 1.0]] * 3).word is Word.ERROR


def test_quantity_that_is_not_a_number_decides_nothing() -> None:
    verdict = decide(make_claim("at_most", 1.0), [[math.nan]] * 3)
    assert (verdict.word, verdict.reason) == (
        Word.INCONCLUSIVE,
        "the quantity is not a number on this table",
    )
    assert decide(make_claim("ratio", (0.5, 2.0)), [[1.0, 0.0]] * 3).word is Word.INCONCLUSIVE


INF = math.inf
# form, threshold, numbers of a seed, what they come to where every seed has them
INFINITE = [
    ("at_most", 1.0, [INF], Word.NOT_REPRODUCED),
    ("at_most", 1.0, [-INF], Word.REPRODUCED),
    ("at_least", 1.0, [INF], Word.REPRODUCED),
    ("at_least", 1.0, [-INF], Word.NOT_REPRODUCED),
    ("within", (1.0, 2.0), [INF], Word.NOT_REPRODUCED),
    ("within", (1.0, 2.0), [-INF], Word.NOT_REPRODUCED),
    ("within", (1.0, INF), [INF], Word.REPRODUCED),
    ("ordering", 0.0, [1.0, INF], Word.REPRODUCED),
    ("ordering", 0.0, [INF, 1.0], Word.NOT_REPRODUCED),
    ("ordering", 0.0, [1.0, 2.0, INF], Word.REPRODUCED),
    ("ordering", 0.0, [2.0, 1.0, INF], Word.NOT_REPRODUCED),
    ("monotone", 0.5, [-INF, 0.0, 0.0], Word.REPRODUCED),
    ("less_than", 1.0, [INF], Word.NOT_REPRODUCED),
    ("less_than", 1.0, [-INF], Word.REPRODUCED),
    ("more_than", 1.0, [INF], Word.REPRODUCED),
    ("more_than", 1.0, [-INF], Word.NOT_REPRODUCED),
    ("strict_ordering", 0.0, [1.0, INF], Word.REPRODUCED),
    ("strict_ordering", 0.0, [INF, 1.0], Word.NOT_REPRODUCED),
    ("strict_ordering", 0.0, [2.0, 2.0, INF], Word.NOT_REPRODUCED),
    ("strict_monotone", 0.0, [-INF, 0.0, 1.0], Word.REPRODUCED),
    ("ratio", (0.5, 2.0), [INF, 1.0], Word.NOT_REPRODUCED),
    ("ratio", (0.5, INF), [INF, 1.0], Word.REPRODUCED),
]


@pytest.mark.parametrize(("form", "threshold", "numbers_of_seed", "word"), INFINITE)
def test_quantity_infinite_in_every_seed_is_decided_on_that_side(
    form: str, threshold: Any, numbers_of_seed: list[float], word: Word
) -> None:
    claim = make_claim(form, threshold)
    assert decide(claim, [numbers_of_seed] * 3).word is word
    few = decide(claim, [numbers_of_seed] * 2)
    assert (few.word, few.reason) == (Word.INCONCLUSIVE, "2 seed(s), need at least 3")
    alone = make_claim(form, threshold, deterministic=True)
    assert decide(alone, [numbers_of_seed]).word is word


def test_infinite_quantity_is_not_stored_as_a_number_but_said() -> None:
    for changes in ({}, {"deterministic": True}):
        claim = make_claim("at_most", 1.0, **changes)
        verdict = decide(claim, [[INF]] * (1 if changes else 3))
        assert (verdict.measured, verdict.low, verdict.high) == (None, None, None)
        assert verdict.reason == "the quantity is infinite, as where runs diverge"
        assert verdict.num_seeds == (0 if changes else 3)


def test_finite_step_that_fails_is_reported_before_an_infinite_one_that_holds() -> None:
    verdict = decide(make_claim("ordering", 0.0), [[2.0, 1.0, INF]] * 3)
    assert (verdict.word, verdict.measured, verdict.reason) == (Word.NOT_REPRODUCED, -1.0, "")
    verdict = decide(make_claim("ordering", 0.0), [[1.0, 2.0, INF]] * 3)
    assert (verdict.word, verdict.measured, verdict.reason) == (Word.REPRODUCED, 1.0, "")


def test_step_beside_an_infinite_one_still_needs_its_interval() -> None:
    samples = [[1.0, 2.0, INF], [1.0, 0.5, INF], [1.0, 3.0, INF]]
    verdict = decide(make_claim("ordering", 0.0), samples)
    assert verdict.word is Word.INCONCLUSIVE
    assert verdict.reason == "the interval overlaps the threshold"


@pytest.mark.parametrize("form", ["at_most", "at_least"])
def test_quantity_infinite_in_some_seeds_decides_nothing(form: str) -> None:
    claim = make_claim(form, 1.0)
    for samples, count in (([[0.5], [INF], [0.6]], 1), ([[INF], [0.5], [INF], [INF]], 3)):
        verdict = decide(claim, samples)
        assert verdict.word is Word.INCONCLUSIVE
        assert f"infinite in {count} of {len(samples)} seeds" in verdict.reason
        assert verdict.measured is None
    assert decide(claim, [[INF], [-INF], [INF]]).word is Word.INCONCLUSIVE


def test_step_infinite_in_some_seeds_decides_nothing() -> None:
    verdict = decide(make_claim("ordering", 0.0), [[1.0, INF], [1.0, 2.0], [1.0, 2.0]])
    assert verdict.word is Word.INCONCLUSIVE
    assert "infinite in 1 of 3 seeds" in verdict.reason


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize(
    ("form", "threshold", "pair"),
    [
        ("ordering", 0.0, [INF, INF]),
        ("monotone", 1.0, [-INF, -INF]),
        ("ordering", 0.0, [1.0, INF, INF]),
        ("ratio", (0.5, 2.0), [INF, INF]),
    ],
)
def test_no_step_lies_between_two_infinities(
    form: str, threshold: Any, pair: list[float], deterministic: bool
) -> None:
    claim = make_claim(form, threshold, deterministic=deterministic)
    verdict = decide(claim, [pair] * (1 if deterministic else 3))
    assert verdict.word is Word.INCONCLUSIVE
    assert "infinite twice" in verdict.reason


def test_equal_is_never_met_by_infinity() -> None:
    assert decide(make_claim("equal", 0.0, tolerance=5.0), [[INF]]).word is Word.NOT_REPRODUCED


def test_empty_table_was_not_run() -> None:
    assert decide(make_claim("at_most", 1.0), []).word is Word.NOT_RUN


def test_profile_not_listed_is_out_of_profile_without_a_look_at_the_table() -> None:
    def quantity(table: pd.DataFrame) -> float:
        raise AssertionError("must not be called")

    claim = make_claim("at_most", 1.0, quantity=quantity, elsewhere="too small")
    verdict = evaluate(claim, table_of([[1.0]] * 3), seed="seed", profile="gpu")
    assert (verdict.word, verdict.reason) == (Word.OUT_OF_PROFILE, "too small")


def test_seed_column_says_what_counts_as_a_seed() -> None:
    table = table_of([[1.0], [2.0], [4.0]]).rename(columns={"seed": "draw"})

    def taken(seed: str | None, **changes: Any) -> Measured:
        claim = make_claim("at_most", 9.0, **changes)
        return measure(claim, table, seed=seed, profile="smoke")

    assert (taken("draw").seeds, taken("draw").samples) == ((0, 1, 2), ((1.0,), (2.0,), (4.0,)))
    # Without seeds it is taken once on all rows.
    for whole in (taken(None, quantity=len), taken("draw", quantity=len, deterministic=True)):
        assert (whole.seeds, whole.samples) == ((), ((3.0,),))
    assert taken("seed").verdict.word is Word.ERROR


@pytest.mark.parametrize(
    ("form", "threshold", "changes", "reason"),
    [
        ("within", 1.0, {}, "form within does not fit"),
        ("ratio", 1.0, {}, "form ratio does not fit"),
        ("at_most", (0.0, 1.0), {}, "form at_most does not fit"),
        ("less_than", (0.0, 1.0), {}, "form less_than does not fit"),
        ("within", (2.0, 1.0), {}, "nothing can meet it"),
        ("at_most", math.nan, {}, "nothing can meet it"),
        ("within", (0.0, math.nan), {}, "nothing can meet it"),
        ("ratio", (-2.0, 0.0), {}, "a ratio is positive"),
        ("equal", 1.0, {"deterministic": False}, "claim c: equality over seeds"),
        ("equal", 1.0, {"tolerance": -0.1}, "tolerance=-0.1"),
        ("equal", 1.0, {"tolerance": math.nan}, "tolerance=nan"),
        ("at_most", 1.0, {"at_least_of": 0}, "at_least_of=0"),
        ("at_most", 1.0, {"profiles": ()}, "profiles="),
        ("at_most", 1.0, {"profiles": ("laptop",)}, "laptop"),
    ],
)
def test_inconsistent_claim_is_refused(
    form: str, threshold: Any, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(SpecError) as caught:
        make_claim(form, threshold, **changes)
    assert reason in str(caught.value)


# Criteria and scopes


def paper_value(reference: pd.DataFrame) -> float:
    return 2.0


@pytest.mark.parametrize(
    ("criterion", "form", "threshold"),
    [
        (at_most(first, 1, "u", paper_value=paper_value), "at_most", 1.0),
        (less_than(first, 1, "u", paper_value=paper_value), "less_than", 1.0),
        (at_least(first, 1, "u", paper_value=paper_value), "at_least", 1.0),
        (more_than(first, 1, "u", paper_value=paper_value), "more_than", 1.0),
        (within(first, 1, 2, "u", paper_value=paper_value), "within", (1.0, 2.0)),
        (ratio(first, 1, 2, "u", paper_value=paper_value), "ratio", (1.0, 2.0)),
        (equal(first, 1, "u", tolerance=0.5, paper_value=paper_value), "equal", 1.0),
        (ordering(first, "u", slack=1, paper_value=paper_value), "ordering", 1.0),
        (monotone(first, "u", slack=1, paper_value=paper_value), "monotone", 1.0),
        (
            ordering(first, "u", slack=1, strict=True, paper_value=paper_value),
            "strict_ordering",
            1.0,
        ),
        (
            monotone(first, "u", slack=1, strict=True, paper_value=paper_value),
            "strict_monotone",
            1.0,
        ),
    ],
)
def test_each_word_makes_its_criterion(criterion: Criterion, form: str, threshold: Any) -> None:
    expected = Criterion(
        form=form,  # type: ignore[arg-type]
        quantity=first,
        threshold=threshold,
        unit="u",
        tolerance=0.5 if form == "equal" else 0.0,
        paper_value=paper_value,
    )
    assert criterion == expected


def scope(**changes: Any) -> Scope:
    settings: dict[str, Any] = {
        "grade": "empirical", "threshold_from": "theory", "profiles": ("cpu",),
    }  # fmt: skip
    return Scope(**{**settings, **changes})


def test_threshold_of_ours_names_its_deviation() -> None:
    assert ours("DEV-04").deviation == "DEV-04"
    with pytest.raises(SpecError, match="names its deviation"):
        scope(threshold_from="ours")
    with pytest.raises(SpecError, match="names its deviation"):
        ours("")


def test_question_of_our_own_is_a_claim_and_no_check() -> None:
    assert ours("DEV-04").asked_by_us().own_question
    assert not ours("DEV-04").own_question
    assert ours("DEV-04").noting("not plotted").caveat == "not plotted"
    with pytest.raises(SpecError, match="a check is no question"):
        CHECK.asked_by_us()


@pytest.mark.parametrize("source", ["theory", "calibration", "paper"])
def test_no_other_threshold_names_a_deviation(source: str) -> None:
    profiles = ("paper",) if source == "paper" else ("cpu",)
    assert scope(threshold_from=source, profiles=profiles).deviation == ""
    with pytest.raises(SpecError, match="no other one does"):
        scope(threshold_from=source, profiles=profiles, deviation="DEV-04")


@pytest.mark.parametrize("profiles", [("cpu",), ("gpu", "paper"), PROFILES])
def test_number_of_the_paper_is_decided_in_the_paper_s_setting_alone(profiles: Any) -> None:
    assert scope(threshold_from="paper", profiles=("paper",)).profiles == ("paper",)
    with pytest.raises(SpecError, match="at `paper` only"):
        scope(threshold_from="paper", profiles=profiles)
    # An exact number of the paper, such as a count of parameters, holds at every scale.
    assert scope(grade="exact", threshold_from="paper", profiles=profiles).profiles == profiles


def test_check_is_exact_on_the_whole_table_wherever_it_was_run() -> None:
    assert (CHECK.grade, CHECK.deterministic, CHECK.profiles) == ("exact", True, PROFILES)
    some = CHECK.at("smoke", "cpu")
    assert (some.profiles, some.elsewhere) == (("smoke", "cpu"), CHECK.elsewhere)
    assert CHECK.at("cpu", elsewhere="no such net").elsewhere == "no such net"
    assert CHECK.profiles == PROFILES


@pytest.mark.parametrize(("made", "source"), [(ours("DEV-04"), "ours"), (by_theory(), "theory")])
def test_scope_of_a_claim_is_empirical_from_cpu_up_and_over_seeds(made: Scope, source: str) -> None:
    assert (made.grade, made.threshold_from) == ("empirical", source)
    assert (made.profiles, made.deterministic, made.cohort) == (CPU_UP, False, "first")


@pytest.mark.parametrize("make", [lambda **more: ours("DEV-04", **more), by_theory])
def test_scope_of_a_claim_takes_every_change(make: Any) -> None:
    made = make(profiles=("gpu",), elsewhere="no GPU", deterministic=True, cohort="cohort-1")
    assert (made.profiles, made.elsewhere) == (("gpu",), "no GPU")
    assert (made.deterministic, made.cohort) == (True, "cohort-1")


def test_claims_of_one_place_share_it_and_keep_their_order() -> None:
    made = claims(
        "Table 1",
        ("small", CHECK, at_most(first, 1.0, ""), "It is small."),
        ("large", by_theory(), at_least(first, 2.0, ""), "It is large."),
    )
    assert [(claim.id, claim.where, claim.statement) for claim in made] == [
        ("small", "Table 1", "It is small."),
        ("large", "Table 1", "It is large."),
    ]
    assert [claim.scope.grade for claim in made] == ["exact", "empirical"]
    assert [claim.criterion.form for claim in made] == ["at_most", "at_least"]


Y = st.floats(-100, 100)
SAMPLES = st.lists(st.lists(Y, min_size=2, max_size=2), min_size=1, max_size=6)


@given(SAMPLES, Y, st.floats(0, 50), st.floats(0, 50))
def test_widening_a_threshold_never_loses_a_claim(
    samples: list[list[float]], middle: float, slack: float, more: float
) -> None:
    order = [Word.NOT_REPRODUCED, Word.INCONCLUSIVE, Word.REPRODUCED]
    pairs = [
        (make_claim("at_most", middle), make_claim("at_most", middle + more)),
        (make_claim("at_least", middle), make_claim("at_least", middle - more)),
        (make_claim("less_than", middle), make_claim("less_than", middle + more)),
        (make_claim("more_than", middle), make_claim("more_than", middle - more)),
        (make_claim("less_than", middle), make_claim("at_most", middle)),
        (make_claim("strict_ordering", slack), make_claim("ordering", slack)),
        (make_claim("ordering", slack), make_claim("ordering", slack + more)),
        (
            make_claim("within", (middle - slack, middle + slack)),
            make_claim("within", (middle - slack - more, middle + slack + more)),
        ),
        (
            make_claim("equal", middle, tolerance=slack),
            make_claim("equal", middle, tolerance=slack + more),
        ),
    ]
    for narrow, wide in pairs:
        words = decide(narrow, samples).word, decide(wide, samples).word
        assert order.index(words[1]) >= order.index(words[0]), narrow.criterion.form


@given(SAMPLES, Y)
def test_bound_and_its_opposite_are_never_both_decided_alike(
    samples: list[list[float]], bound: float
) -> None:
    above = decide(make_claim("at_least", bound), samples)
    below = decide(make_claim("at_most", bound), samples)
    if above.word is Word.NOT_REPRODUCED:
        assert below.word is Word.REPRODUCED
    assert (above.measured, above.low) == (below.measured, below.low)
    if len(samples) < 3:
        assert above.word is below.word is Word.INCONCLUSIVE


@given(SAMPLES, Y)
def test_strict_bound_is_the_loose_one_turned_round(
    samples: list[list[float]], bound: float
) -> None:
    """What is not more than a bound is at most that bound."""
    turned = {
        Word.REPRODUCED: Word.NOT_REPRODUCED,
        Word.NOT_REPRODUCED: Word.REPRODUCED,
        Word.INCONCLUSIVE: Word.INCONCLUSIVE,
    }
    for strict, loose in (("more_than", "at_most"), ("less_than", "at_least")):
        words = [decide(make_claim(form, bound), samples).word for form in (strict, loose)]
        if len(samples) >= 3:
            assert words[0] is turned[words[1]]


def test_a_doubt_leaves_the_numbers_and_decides_nothing() -> None:
    table = table_of([[3.0], [3.1], [3.2]])
    sure, doubted = (
        make_claim("at_least", 1.0, doubt=lambda _, said=said: said) for said in ("", "edge")
    )
    kept = measure(sure, table, seed="seed", profile="smoke")
    open_ = measure(doubted, table, seed="seed", profile="smoke")
    assert (kept.verdict.word, kept.verdict.reason) == (Word.REPRODUCED, "")
    assert (open_.verdict.word, open_.verdict.reason) == (Word.INCONCLUSIVE, "edge")
    assert open_.doubt == "edge"
    assert open_.samples == kept.samples
    assert open_.verdict.low == kept.verdict.low is not None


def test_a_ratio_of_several_pairs_is_judged_pair_by_pair() -> None:
    """In each seed one pair is off, another one each time: over the seeds none of them is."""
    rows = [[3.0, 1.0, 1.0, 1.0], [1.0, 1.0, 3.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    claim = make_claim("ratio", (0.25, 4.0))
    found = measure(claim, table_of(rows), seed="seed", profile="smoke")
    assert found.samples[0] == pytest.approx((math.log(3.0), 0.0))
    assert found.verdict.measured == pytest.approx(3.0**0.25)
    with pytest.raises(ValueError, match="zip"):
        samples_per_seed(claim, table_of([[1.0, 2.0, 3.0]]), "seed")
