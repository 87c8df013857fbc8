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

from harness.declare.claims import Claim
from harness.declare.old import flat_claim
from harness.declare.statistics import InvalidQuantity, MissingRows
from harness.declare.table import Column, Table
from harness.declare.verdict import Verdict, Word, evaluate
from harness.errors import SpecError

COLUMNS = Table(
    (
        Column(name="k", type="int", role="param", doc=""),
        Column(name="seed", type="int", role="seed", doc=""),
        Column(name="y", type="float", role="value", doc=""),
    )
)


def numbers(table: pd.DataFrame) -> list[float]:
    return [float(v) for v in table.sort_values("k")["y"]]


def first(table: pd.DataFrame) -> float:
    return numbers(table)[0]


def make_claim(form: str, threshold: Any, **changes: Any) -> Claim:
    many = form in ("ratio", "ordering", "monotone")
    settings: dict[str, Any] = {
        "id": "c", "statement": "", "where": "", "form": form, "grade": "empirical",
        "quantity": numbers if many else first, "threshold": threshold,
        "threshold_from": "theory", "profiles": ("smoke",), "deterministic": form == "equal",
    }  # fmt: skip
    return flat_claim(**{**settings, **changes})


def table_of(samples: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return a table with one seed per sample; sample[k] is y at k."""
    rows = [(k, s, y) for s, sample in enumerate(samples) for k, y in enumerate(sample)]
    return pd.DataFrame(rows, columns=["k", "seed", "y"])


def decide(claim: Claim, samples: Sequence[Sequence[float]]) -> Verdict:
    return evaluate(claim, table_of(samples), columns=COLUMNS, profile="smoke")


# form, threshold, a table that holds, one that fails, one that overlaps
FORMS = [
    ("at_most", 1.0, [[0.5], [0.6], [0.55]], [[1.5], [1.6], [1.4]], [[0.5], [1.5], [1.1]]),
    ("at_least", 1.0, [[1.5], [1.6], [1.4]], [[0.5], [0.6], [0.5]], [[0.5], [1.5], [1.1]]),
    ("within", (1.0, 2.0), [[1.5], [1.6], [1.4]], [[2.5], [2.6], [2.5]], [[1.9], [2.1], [2.0]]),
    ("ordering", 0.0, [[1, 2, 3], [1, 2.1, 3], [1, 2, 3.1]],
     [[1, 3, 2], [1, 3, 2.1], [1, 3.1, 2]], [[1, 2, 3], [1, 2, 1], [1, 2, 2.5]]),
    ("monotone", 0.5, [[1, 0.9, 2], [1, 0.95, 2], [1, 0.9, 2.1]],
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


@pytest.mark.parametrize(
    ("value", "word"), [(1.05, "REPRODUCED"), (0.9, "REPRODUCED"), (1.11, "NOT_REPRODUCED")]
)
def test_equal_allows_its_tolerance_and_no_more(value: float, word: str) -> None:
    verdict = decide(make_claim("equal", 1.0, tolerance=0.1), [[value]])
    assert (verdict.word, verdict.num_seeds, verdict.measured) == (word, 0, value)


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

    verdict = decide(make_claim("at_most", 1.0, quantity=quantity), [[1.0]] * 3)
    assert verdict.word is word
    assert str(error) in verdict.reason


@pytest.mark.parametrize("value", ["text", [1.0, 2.0], None, []])
def test_quantity_of_another_shape_is_an_error(value: Any) -> None:
    claim = make_claim("at_most", 1.0, quantity=lambda table: value)
    assert decide(claim, [[1.0]] * 3).word is Word.ERROR


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

    claim = make_claim("at_most", 1.0, quantity=quantity, out_of_profile="too small")
    verdict = evaluate(claim, table_of([[1.0]] * 3), columns=COLUMNS, profile="gpu")
    assert (verdict.word, verdict.reason) == (Word.OUT_OF_PROFILE, "too small")


@pytest.mark.parametrize(
    "changes",
    [
        {"form": "within", "threshold": 1.0},
        {"form": "at_most", "threshold": (0.0, 1.0)},
        {"form": "within", "threshold": (2.0, 1.0)},
        {"form": "at_most", "threshold": math.nan},
        {"form": "ratio", "threshold": (-2.0, 0.0)},
        {"form": "equal", "threshold": 1.0, "deterministic": False},
        {"form": "equal", "threshold": 1.0, "tolerance": -0.1},
        {"form": "at_most", "threshold": 1.0, "profiles": ()},
        {"form": "at_most", "threshold": 1.0, "profiles": ("laptop",)},
        {"form": "at_most", "threshold": 1.0, "threshold_from": "paper"},
    ],
)
def test_inconsistent_claim_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="claim c"):
        make_claim(changes.pop("form"), changes.pop("threshold"), **changes)


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
        assert order.index(words[1]) >= order.index(words[0]), narrow.form


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
