"""Claims, their criteria and scopes: what is refused where they are declared."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import claims
from harness.declare.criterion import (
    Criterion,
    at_least,
    at_most,
    equal,
    less_than,
    monotone,
    more_than,
    ordering,
    ratio,
    within,
)
from harness.declare.profiles import CPU_UP, PROFILES
from harness.declare.scope import CHECK, Control, Scope, by_theory, ours
from harness.errors import SpecError


def quantity(table: pd.DataFrame) -> float:
    return float(len(table))


def paper_value(reference: pd.DataFrame) -> float:
    return 2.0


@pytest.mark.parametrize(
    ("form", "threshold", "changes", "reason"),
    [
        ("within", 1.0, {}, "form within does not fit"),
        ("at_most", (0.0, 1.0), {}, "form at_most does not fit"),
        ("within", (2.0, 1.0), {}, "nothing can meet it"),
        ("at_most", math.nan, {}, "nothing can meet it"),
        ("within", (0.0, math.nan), {}, "nothing can meet it"),
        ("ratio", (-2.0, 0.0), {}, "a ratio is positive"),
        ("equal", 1.0, {"tolerance": -0.1}, "tolerance=-0.1"),
        ("equal", 1.0, {"tolerance": math.nan}, "tolerance=nan"),
        ("at_most", 1.0, {"at_least_of": 0}, "at_least_of=0"),
    ],
)
def test_inconsistent_criterion_is_refused(
    form: Any, threshold: Any, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(SpecError, match=reason):
        Criterion(form=form, quantity=quantity, threshold=threshold, unit="", **changes)


BESIDE: dict[str, Any] = {"paper_value": paper_value}
STRICT: dict[str, Any] = {"slack": 1, "strict": True, **BESIDE}


@pytest.mark.parametrize(
    ("criterion", "form", "threshold"),
    [
        (at_most(quantity, 1, "u", **BESIDE), "at_most", 1.0),
        (less_than(quantity, 1, "u", **BESIDE), "less_than", 1.0),
        (at_least(quantity, 1, "u", **BESIDE), "at_least", 1.0),
        (more_than(quantity, 1, "u", **BESIDE), "more_than", 1.0),
        (within(quantity, 1, 2, "u", **BESIDE), "within", (1.0, 2.0)),
        (ratio(quantity, 1, 2, "u", **BESIDE), "ratio", (1.0, 2.0)),
        (equal(quantity, 1, "u", tolerance=0.5, **BESIDE), "equal", 1.0),
        (ordering(quantity, "u", slack=1, **BESIDE), "ordering", 1.0),
        (monotone(quantity, "u", slack=1, **BESIDE), "monotone", 1.0),
        (ordering(quantity, "u", **STRICT), "strict_ordering", 1.0),
        (monotone(quantity, "u", **STRICT), "strict_monotone", 1.0),
    ],
)
def test_each_word_makes_its_criterion(criterion: Criterion, form: Any, threshold: Any) -> None:
    expected = Criterion(
        form=form,
        quantity=quantity,
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


@pytest.mark.parametrize("profiles", [(), ("laptop",)])
def test_unknown_profile_is_refused(profiles: Any) -> None:
    with pytest.raises(SpecError, match="profiles="):
        scope(profiles=profiles)


def test_threshold_of_ours_names_its_deviation_and_no_other_one_does() -> None:
    assert ours("DEV-04").deviation == "DEV-04"
    with pytest.raises(SpecError, match="names its deviation"):
        ours("")
    for source in ("theory", "calibration"):
        assert scope(threshold_from=source).deviation == ""
        with pytest.raises(SpecError, match="no other one does"):
            scope(threshold_from=source, deviation="DEV-04")


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


def test_question_and_control_are_of_a_claim_and_no_check() -> None:
    learned = at_most(quantity, 0.2, "error")
    made = ours("DEV-04").controlled("nets learn", learned).asked_by_us()
    assert made.control == Control(statement="nets learn", criterion=learned)
    assert made.own_question and not ours("DEV-04").own_question
    assert ours("DEV-04").control is None
    for ask in (CHECK.asked_by_us, lambda: CHECK.controlled("nets learn", learned)):
        with pytest.raises(SpecError, match="it asks nothing, by no control"):
            ask()


@pytest.mark.parametrize("make", [lambda **more: ours("DEV-04", **more), by_theory])
def test_scope_of_a_claim_is_empirical_from_cpu_up_and_over_seeds(make: Any) -> None:
    made = make()
    assert (made.grade, made.profiles, made.deterministic) == ("empirical", CPU_UP, False)
    made = make(profiles=("gpu",), elsewhere="no GPU", deterministic=True)
    assert (made.profiles, made.elsewhere, made.deterministic) == (("gpu",), "no GPU", True)


def test_claims_of_one_place_share_it_and_keep_their_order() -> None:
    made = claims(
        "Table 1",
        ("small", CHECK, at_most(quantity, 1.0, ""), "It is small."),
        ("large", by_theory(), at_least(quantity, 2.0, ""), "It is large."),
    )
    assert [(claim.id, claim.where, claim.statement) for claim in made] == [
        ("small", "Table 1", "It is small."),
        ("large", "Table 1", "It is large."),
    ]
    assert [claim.scope.grade for claim in made] == ["exact", "empirical"]
    with pytest.raises(SpecError, match="claim one: equality over seeds"):
        claims("Table 1", ("one", by_theory(), equal(quantity, 1.0, ""), "It is one."))
