"""Claims, their criteria and scopes: what is refused where they are declared."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from harness.declare.criterion import (
    Criterion,
    at_most,
)
from harness.declare.profiles import PROFILES
from harness.declare.scope import CHECK, Control, Scope, ours
from harness.errors import SpecError


def quantity(table: pd.DataFrame) -> float:
    return float(len(table))


@pytest.mark.parametrize(
    ("form", "threshold"),
    [
        ("within", (2.0, 1.0)),
        ("at_most", math.nan),
        ("within", (0.0, math.nan)),
        ("ratio", (-2.0, 0.0)),
    ],
)
def test_threshold_that_nothing_meets_is_refused(form: Any, threshold: Any) -> None:
    with pytest.raises(SpecError, match="nothing can meet it"):
        Criterion(form=form, quantity=quantity, threshold=threshold, unit="")


def scope(**changes: Any) -> Scope:
    settings: dict[str, Any] = {
        "grade": "empirical", "threshold_from": "theory", "profiles": ("cpu",),
    }  # fmt: skip
    return Scope(**{**settings, **changes})


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


def test_question_and_control_are_of_a_claim_and_no_check() -> None:
    learned = at_most(quantity, 0.2, "error")
    made = ours("DEV-04").controlled("nets learn", learned).asked_by_us()
    assert made.control == Control(statement="nets learn", criterion=learned)
    assert made.own_question and not ours("DEV-04").own_question
    assert ours("DEV-04").control is None
    for ask in (CHECK.asked_by_us, lambda: CHECK.controlled("nets learn", learned)):
        with pytest.raises(SpecError, match="it asks nothing, by no control"):
            ask()
