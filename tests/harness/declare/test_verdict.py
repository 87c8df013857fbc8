"""Verdicts: every form on tables that meet it, miss it and decide nothing; controls; errors."""

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
from harness.declare.criterion import STEPS, STRICT, Criterion, at_least
from harness.declare.scope import Control, Scope
from harness.declare.statistics import InvalidQuantity, MissingRows
from harness.declare.table import pick
from harness.declare.verdict import NO_CONTROL, OVERLAPS, Verdict, Word, evaluate, samples_per_seed
from harness.errors import SpecError
from tests.verdicts import bad, controlled, good, undecided

INF = math.inf


def numbers(table: pd.DataFrame) -> list[float]:
    return [float(v) for v in table.sort_values("k")["y"]]


def first(table: pd.DataFrame) -> float:
    return numbers(table)[0]


def make_claim(form: str, threshold: Any, *, grade: str = "empirical", **changes: Any) -> Claim:
    """Return a claim at smoke. changes: fields of its criterion and of its scope."""
    criterion: dict[str, Any] = {
        "quantity": numbers if form == "ratio" or form in STEPS else first, "unit": "",
    }  # fmt: skip
    scope: dict[str, Any] = {"profiles": ("smoke",), "deterministic": form == "equal"}
    for name, value in changes.items():
        (scope if name in Scope.__dataclass_fields__ else criterion)[name] = value
    return Claim(
        id="c",
        statement="",
        where="",
        criterion=Criterion(form=form, threshold=threshold, **criterion),  # type: ignore[arg-type]
        scope=Scope(grade=grade, threshold_from="theory", **scope),  # type: ignore[arg-type]
    )


def table_of(samples: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return a table with one seed per sample; sample[k] is y at k."""
    rows = [(k, s, y) for s, sample in enumerate(samples) for k, y in enumerate(sample)]
    return pd.DataFrame(rows, columns=["k", "seed", "y"])


def decide(claim: Claim, samples: Sequence[Sequence[float]]) -> Verdict:
    """Return a verdict as if a control held."""
    return controlled(claim, table_of(samples), seed="seed", profile="smoke")


def five(samples: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    """Return three seeds, and the first two of them once more."""
    return [*samples, *samples[:2]]


def alone(claim: Claim, samples: Sequence[Sequence[float]]) -> Verdict:
    """Return a verdict with the control that the claim has, if any."""
    return evaluate(claim, table_of(samples), seed="seed", profile="smoke")


# form, threshold, a table that meets it, one that misses it, one that overlaps, of three seeds
_FORMS = [
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
FORMS = [(form, at, *map(five, tables)) for form, at, *tables in _FORMS]


@pytest.mark.parametrize(("form", "threshold", "meets", "misses", "overlaps"), FORMS)
def test_each_form_is_met_missed_left_open_and_needs_five_seeds(
    form: str, threshold: Any, meets: Any, misses: Any, overlaps: Any
) -> None:
    claim = make_claim(form, threshold)
    assert decide(claim, meets).word is Word.SUPPORTED
    assert decide(claim, misses).word is Word.CONTRADICTED
    assert (decide(claim, overlaps).word, decide(claim, overlaps).reason) == (
        Word.UNDECIDED,
        OVERLAPS,
    )
    few = decide(claim, meets[:2])
    assert (few.word, few.num_seeds) == (Word.UNDECIDED, 2)
    assert few.reason == "a verdict needs at least 5 seeds"
    assert decide(claim, misses[:1]).word is Word.UNDECIDED


@pytest.mark.parametrize(("form", "threshold", "meets", "misses", "overlaps"), FORMS)
def test_each_form_of_a_check_holds_or_fails_and_knows_no_doubt(
    form: str, threshold: Any, meets: Any, misses: Any, overlaps: Any
) -> None:
    check = make_claim(form, threshold, grade="exact")
    found = [alone(check, samples) for samples in (meets, misses, overlaps, meets[:2])]
    assert [each.word for each in found] == [Word.HOLDS, Word.FAILS, Word.FAILS, Word.FAILS]
    assert found[1].reason == ""
    once = make_claim(form, threshold, grade="exact", deterministic=True)
    assert alone(once, meets[:1]).word is Word.HOLDS
    assert alone(once, misses[:1]).word is Word.FAILS


# Positive controls


def with_control(samples_meet: bool = True, **changes: Any) -> Claim:
    """Return the claim that y is at most 1, with a control that y is at least 0, or at least 9."""
    control = at_least(changes.pop("control", first), 0.0 if samples_meet else 9.0, "")
    return make_claim(
        "at_most", 1.0, control=Control(statement="y is large", criterion=control), **changes
    )


MET, MISSED = five([[0.5], [0.6], [0.55]]), five([[1.4], [1.5], [1.6]])


def test_without_a_control_nothing_is_contradicted_but_what_was_counted() -> None:
    open_ = alone(make_claim("at_most", 1.0), MISSED)
    assert (open_.word, open_.reason, open_.control) == (Word.UNDECIDED, NO_CONTROL, "")
    assert open_.measured == pytest.approx(1.48)
    assert open_.samples == ()
    assert alone(make_claim("at_most", 1.0), MET).word is Word.SUPPORTED
    counted = make_claim("at_most", 1.0, deterministic=True)
    assert alone(counted, MISSED[:1]).word is Word.CONTRADICTED


@pytest.mark.parametrize("samples", [MET, MISSED])
def test_a_control_that_held_leaves_the_word_and_is_told(samples: Any) -> None:
    found = alone(with_control(), samples)
    assert found.word is (Word.SUPPORTED if samples is MET else Word.CONTRADICTED)
    assert (found.reason, found.control, len(found.samples)) == ("", "held", 5)


@pytest.mark.parametrize("samples", [MET, MISSED])
def test_a_control_that_failed_leaves_the_claim_untested(samples: Any) -> None:
    found = alone(with_control(samples_meet=False), samples)
    assert (found.word, found.control) == (Word.UNTESTED, "failed")
    assert found.reason == "control: this run does not show that y is large"
    assert found.samples == ()


def test_a_control_that_is_open_or_has_no_valid_number_failed() -> None:
    def invalid(table: pd.DataFrame) -> float:
        raise InvalidQuantity("on the edge")

    for control in (invalid, lambda table: (-1.0) ** int(table["seed"].iloc[0])):
        assert alone(with_control(control=control), MISSED).control == "failed"


def test_a_control_whose_rows_were_not_run_leaves_the_claim_not_run() -> None:
    def missing(table: pd.DataFrame) -> float:
        raise MissingRows("no baseline")

    found = alone(with_control(control=missing), MET)
    assert (found.word, found.reason) == (Word.UNTESTED, "not run: no baseline")


# Thresholds themselves

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


@pytest.mark.parametrize(("form", "threshold", "edge", "inside"), EDGES)
def test_the_threshold_itself_meets_no_strict_form(
    form: str, threshold: float, edge: list[float], inside: list[float]
) -> None:
    assert {each for each, *_ in EDGES} == set(LOOSE) == set(STRICT)
    strict, loose = make_claim(form, threshold), make_claim(LOOSE[form], threshold)
    # Seeds that agree to the bit lie on a grid, and a finer one may tell.
    assert decide(strict, [edge] * 5).word is Word.UNDECIDED
    assert decide(loose, [edge] * 5).word is Word.SUPPORTED
    assert decide(strict, [inside] * 5).word is Word.SUPPORTED
    once = make_claim(form, threshold, deterministic=True)
    assert decide(once, [edge]).word is Word.CONTRADICTED
    assert decide(once, [inside]).word is Word.SUPPORTED


@pytest.mark.parametrize(("value", "met"), [(1.05, True), (1.11, False)])
@pytest.mark.parametrize("grade", ["empirical", "exact"])
def test_equal_allows_its_tolerance_and_no_more(value: float, met: bool, grade: str) -> None:
    claim = make_claim("equal", 1.0, tolerance=0.1, grade=grade)
    assert decide(claim, [[value]]).word is (good(claim) if met else bad(claim))


# What is taken of a table


def test_deterministic_claim_takes_the_whole_table_once() -> None:
    claim = make_claim("at_most", 5.0, deterministic=True, quantity=lambda t: np.int64(len(t)))
    verdict = decide(claim, [[1.0], [2.0], [3.0]])
    assert (verdict.word, verdict.measured, verdict.num_seeds) == (Word.SUPPORTED, 3.0, 0)


def test_seed_column_says_what_counts_as_a_seed() -> None:
    table = table_of([[1.0], [2.0], [4.0]]).rename(columns={"seed": "draw"})
    criterion = make_claim("at_most", 9.0).criterion
    assert samples_per_seed(criterion, table, "draw") == [[1.0], [2.0], [4.0]]
    assert samples_per_seed(criterion, table, None) == [[1.0]]
    claim = make_claim("at_most", 9.0)
    assert evaluate(claim, table, seed="seed", profile="smoke").word is Word.ERROR


def test_a_claim_is_judged_over_the_seeds_that_have_its_rows() -> None:
    table = table_of([[1.0], [2.0], [4.0]]).assign(method=["ours", "theirs", "ours"])
    claim = make_claim("at_most", 9.0, quantity=lambda t: pick(t, method="ours")["y"].sum())
    assert samples_per_seed(claim.criterion, table, "seed") == [[1.0], [4.0]]
    theirs = table[table["method"] == "theirs"]
    assert evaluate(claim, theirs, seed="seed", profile="smoke").reason.startswith("not run: ")


def test_ratio_is_measured_as_a_ratio_and_does_not_overflow() -> None:
    verdict = decide(make_claim("ratio", (0.5, 4.0)), [[6, 3]] * 3)
    assert verdict.measured == pytest.approx(2.0)
    assert verdict.low == pytest.approx(2.0)
    wide = decide(make_claim("ratio", (0.5, 2.0)), [[1e300, 1e-5], [1e-300, 1e5]])
    assert (wide.word, wide.high) == (Word.UNDECIDED, None)


def test_a_ratio_of_several_pairs_is_judged_pair_by_pair() -> None:
    """In each seed one pair is off, another one each time: over the seeds none of them is."""
    rows = [[3.0, 1.0, 1.0, 1.0], [1.0, 1.0, 3.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    claim = make_claim("ratio", (0.25, 4.0))
    found = decide(claim, rows)
    assert found.samples[0] == pytest.approx((math.log(3.0), 0.0))
    assert found.measured == pytest.approx(3.0**0.25)
    with pytest.raises(ValueError, match="zip"):
        samples_per_seed(claim.criterion, table_of([[1.0, 2.0, 3.0]]), "seed")


NOISY = five([[0.0, 0.3, 0.9], [0.2, 0.1, 0.9], [0.1, 0.2, 1.0]])
"""Per seed three numbers: two about 0.1 and 0.2, the third well above."""


@pytest.mark.parametrize(
    ("form", "threshold", "word", "mean"),
    [
        ("at_least", -1.0, "SUPPORTED", 0.1),
        ("at_least", 0.15, "UNDECIDED", 0.1),
        ("at_least", 0.7, "CONTRADICTED", 0.1),
        ("at_most", 0.7, "CONTRADICTED", 0.92),
        ("within", (-1.0, 2.0), "SUPPORTED", 0.92),
    ],
)
def test_each_of_several_numbers_meets_the_bound_by_its_own_interval(
    form: str, threshold: Any, word: str, mean: float
) -> None:
    verdict = decide(make_claim(form, threshold, quantity=numbers), NOISY)
    assert verdict.word == word
    assert verdict.measured == pytest.approx(mean)
    assert verdict.deciding == f"number {1 if mean == 0.1 else 3} of 3"


@pytest.mark.parametrize(
    ("count", "word", "mean"),
    [(1, "SUPPORTED", 2.0), (2, "UNDECIDED", 1.0), (3, "CONTRADICTED", -1.0), (4, "ERROR", None)],
)
def test_so_many_of_several_numbers_decide(count: int, word: str, mean: float | None) -> None:
    claim = make_claim("at_least", 0.5, quantity=numbers, names=("a", "b", "c"), at_least_of=count)
    verdict = decide(claim, [[-1.0, 2.0, third] for third in (0.0, 1.0, 2.0, 0.0, 2.0)])
    assert (verdict.word, verdict.measured) == (word, mean if mean is None else pytest.approx(mean))
    assert verdict.deciding == {2.0: "b", 1.0: "c", -1.0: "a", None: ""}[mean]


# What is no evidence


@pytest.mark.parametrize(
    ("error", "word", "reason"),
    [
        (InvalidQuantity("on the edge"), Word.UNDECIDED, "on the edge"),
        (MissingRows("no rows"), Word.UNTESTED, "not run: no rows"),
        (KeyError("loss"), Word.ERROR, "KeyError: 'loss'"),
        (SpecError("x"), Word.ERROR, "SpecError: x"),
    ],
)
@pytest.mark.parametrize("grade", ["empirical", "exact"])
def test_what_a_quantity_raises_is_no_evidence(
    error: Exception, word: Word, reason: str, grade: str
) -> None:
    def quantity(table: pd.DataFrame) -> float:
        raise error

    claim = make_claim("at_most", 1.0, quantity=quantity, grade=grade)
    verdict = decide(claim, [[1.0]] * 3)
    # A check that cannot be taken does not hold; what was not run, or crashed, says nothing.
    assert verdict.word is (undecided(claim) if word is Word.UNDECIDED else word)
    assert verdict.reason == reason


def test_another_scale_is_told_without_a_look_at_the_table() -> None:
    def quantity(table: pd.DataFrame) -> float:
        raise AssertionError("must not be called")

    claim = make_claim("at_most", 1.0, quantity=quantity, elsewhere="too small")
    verdict = evaluate(claim, table_of([[1.0]] * 3), seed="seed", profile="gpu")
    assert (verdict.word, verdict.reason) == (Word.UNTESTED, "scale: too small")


def test_a_doubt_leaves_the_numbers_and_decides_nothing() -> None:
    sure, doubted = (
        make_claim("at_least", 1.0, doubt=lambda _, said=said: said) for said in ("", "edge")
    )
    kept, open_ = (decide(claim, five([[3.0], [3.1], [3.2]])) for claim in (sure, doubted))
    assert (kept.word, kept.reason, len(kept.samples)) == (Word.SUPPORTED, "", 5)
    assert (open_.word, open_.reason, open_.samples) == (Word.UNDECIDED, "edge", ())
    assert open_.low == kept.low is not None


def test_quantity_that_is_not_a_number_decides_nothing() -> None:
    verdict = decide(make_claim("at_most", 1.0), [[math.nan]] * 3)
    assert verdict.word is Word.UNDECIDED
    assert verdict.reason == "the quantity is not a number on this table"
    assert decide(make_claim("ratio", (0.5, 2.0)), [[1.0, 0.0]] * 3).word is Word.UNDECIDED


# Infinity, as where runs diverge

# form, threshold, numbers of a seed, whether they meet it where every seed has them
INFINITE = [
    ("at_most", 1.0, [INF], False),
    ("at_least", 1.0, [INF], True),
    ("within", (1.0, INF), [INF], True),
    ("ordering", 0.0, [1.0, 2.0, INF], True),
    ("ordering", 0.0, [2.0, 1.0, INF], False),
    ("strict_ordering", 0.0, [INF, 1.0], False),
    ("strict_monotone", 0.0, [-INF, 0.0, 1.0], True),
    ("ratio", (0.5, 2.0), [INF, 1.0], False),
    ("ratio", (0.5, INF), [INF, 1.0], True),
]


@pytest.mark.parametrize(("form", "threshold", "of_seed", "met"), INFINITE)
def test_quantity_infinite_in_every_seed_is_decided_on_that_side(
    form: str, threshold: Any, of_seed: list[float], met: bool
) -> None:
    word = Word.SUPPORTED if met else Word.CONTRADICTED
    assert decide(make_claim(form, threshold), [of_seed] * 5).word is word
    once = make_claim(form, threshold, deterministic=True)
    assert decide(once, [of_seed]).word is word


@pytest.mark.parametrize(
    ("form", "samples", "reason"),
    [
        ("at_most", [[0.5], [INF], [0.6]], "infinite in 1 of 3 seeds"),
        ("at_least", [[INF], [0.5], [INF], [INF]], "infinite in 3 of 4 seeds"),
        ("at_most", [[INF], [-INF], [INF]], "infinite in 3 of 3 seeds"),
        ("ordering", [[1.0, INF], [1.0, 2.0], [1.0, 2.0]], "infinite in 1 of 3 seeds"),
        ("ordering", [[1.0, INF, INF]] * 3, "infinite twice"),
        ("monotone", [[-INF, -INF]] * 3, "infinite twice"),
        ("ordering", five([[1.0, 2.0, INF], [1.0, 0.5, INF], [1.0, 3.0, INF]]), OVERLAPS),
    ],
)
def test_infinity_in_some_seeds_or_twice_decides_nothing(
    form: str, samples: Any, reason: str
) -> None:
    verdict = decide(make_claim(form, 1.0 if form.startswith("at") else 0.0), samples)
    assert verdict.word is Word.UNDECIDED
    assert reason in verdict.reason


# Whatever the numbers

Y = st.floats(-100, 100)
SAMPLES = st.lists(st.lists(Y, min_size=2, max_size=2), min_size=1, max_size=6)


@given(SAMPLES, Y, st.floats(0, 50), st.floats(0, 50))
def test_widening_a_threshold_never_loses_a_claim(
    samples: list[list[float]], middle: float, slack: float, more: float
) -> None:
    order = [Word.CONTRADICTED, Word.UNDECIDED, Word.SUPPORTED]
    band, wider = (middle - slack, middle + slack), (middle - slack - more, middle + slack + more)
    pairs = [
        (("at_most", middle), ("at_most", middle + more)),
        (("more_than", middle), ("more_than", middle - more)),
        (("less_than", middle), ("at_most", middle)),
        (("strict_ordering", slack), ("ordering", slack)),
        (("ordering", slack), ("ordering", slack + more)),
        (("within", band), ("within", wider)),
    ]
    for narrow, wide in pairs:
        words = [decide(make_claim(*each), samples).word for each in (narrow, wide)]
        assert order.index(words[1]) >= order.index(words[0]), narrow
