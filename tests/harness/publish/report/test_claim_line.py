"""A claim in a line, what `repro check` prints of many, and how they are counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.declare.verdict import NO_CONTROL, OVERLAPS, Part, Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import (
    by_luck,
    checks_in_words,
    counted,
    if_thresholds_moved,
    missed_in_words,
    registered_in_words,
)
from harness.publish.report.claim_line import ClaimLine, in_order
from harness.publish.report.page import folded_head
from harness.publish.report.terminal import check_text
from harness.publish.report.text import interval
from harness.publish.report.units import readable

CLAIM = CheckRow(
    task="toylab/fig01", claim="stays", grade="empirical", ours=False, profile="cpu",
    form="at_most", verdict=Word.UNDECIDED, reason=OVERLAPS, measured=0.9, low=0.6, high=1.2,
    unit="octaves", num_seeds=3, threshold=1.0, threshold_from="theory", paper_value=None,
    paper_is_derived=False, registered=True, control="", seeds_to_decide=12, deciding="",
    statement="The optimum stays.",
)  # fmt: skip
CHECK = replace(
    CLAIM, claim="count", grade="exact", verdict=Word.HOLDS, reason="", low=0.9, high=0.9,
    num_seeds=0, seeds_to_decide=None, statement="The table is whole.",
)  # fmt: skip
UNTESTED = {"measured": None, "low": None, "high": None, "num_seeds": 0, "seeds_to_decide": None}


def row(verdict: Word, base: CheckRow = CLAIM, **changes: Any) -> CheckRow:
    return replace(base, **{"verdict": verdict, "reason": "", "seeds_to_decide": None, **changes})


def of(*words: Word, base: CheckRow = CLAIM) -> list[CheckRow]:
    """Return a row per verdict."""
    return [row(word, base) for word in words]


FACTOR = "octaves, a factor of 1.9; asked at most 1 octave"
PARTS = tuple(Part(name=name, measured=at, low=at, high=at) for name, at in (("x", 0.9), ("y", 2)))


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (CLAIM, f"? The optimum stays. Ours 0.90 ± 0.30 {FACTOR}; 3 seeds."
         " About 12 seeds would decide it."),
        (row(Word.SUPPORTED, unit="nats", paper_value=0.5, registered=False),
         "✔ The optimum stays. Ours 0.90 ± 0.30 nats; asked at most 1 nat; paper 0.5;"
         " 3 seeds, exploratory."),
        (row(Word.CONTRADICTED, unit="", paper_value=0.5, paper_is_derived=True),
         "✘ The optimum stays. Ours 0.90 ± 0.30; asked at most 1; paper 0.5, computed; 3 seeds."),
        (row(Word.SUPPORTED, unit="ratio", form="ratio", threshold=["-inf", 2.0], high=1.3),
         "✔ The optimum stays. Ours 0.90 times (0.60 to 1.30); asked at most 2; 3 seeds."),
        (row(Word.SUPPORTED, unit="", parts=PARTS),
         "✔ The optimum stays. Ours 0.90 ± 0.30 (x, the worse of 2); asked at most 1; 3 seeds."),
        (row(Word.SUPPORTED, unit="", parts=PARTS, at_least_of=1, ours=True),
         "✔ The optimum stays. Ours 0.90 ± 0.30 (x, one of 2); asked by us: at most 1; 3 seeds."),
        (row(Word.UNTESTED, reason="scale: no net is that large", **UNTESTED),
         "– The optimum stays. Not tested: no net is that large."),  # noqa: RUF001
        (row(Word.UNTESTED, reason="control: nets do not learn", registered=False),
         "– The optimum stays. Not tested: nets do not learn."),  # noqa: RUF001
        (row(Word.ERROR, reason="results/a.csv was changed.", **UNTESTED),
         "! The optimum stays. results/a.csv was changed."),
        (CHECK, f"✔ The table is whole. Ours 0.9 {FACTOR}."),
    ],
)  # fmt: skip
def test_a_claim_s_line(told: CheckRow, line: str) -> None:
    assert ClaimLine(told).whole == line


def test_what_went_worst_stands_first_and_quiet_checks_are_folded() -> None:
    own = row(Word.CONTRADICTED, ours=True)
    rows = [*of(*Word), CHECK, row(Word.FAILS, CHECK), row(Word.UNTESTED, CHECK), own]
    shown, folded = in_order(rows)
    assert [str(line.row.verdict) for line in shown] == [
        "ERROR", "FAILS", "FAILS", "CONTRADICTED", "CONTRADICTED", "UNDECIDED", "SUPPORTED",
        "HOLDS", "UNTESTED",
    ]  # fmt: skip
    assert shown[4].row is own
    assert [line.row.verdict for line in folded] == ["HOLDS", "UNTESTED"]
    assert folded_head(folded) == "1 of 1 check holds"
    assert folded_head(folded[1:]) == "1 check, untested"


def test_claims_own_questions_and_checks_are_counted_apart() -> None:
    own = of(Word.SUPPORTED, Word.UNTESTED, base=replace(CLAIM, ours=True))
    claims = of(Word.SUPPORTED, Word.SUPPORTED, Word.CONTRADICTED, Word.UNDECIDED, Word.UNTESTED)
    checks = of(Word.HOLDS, Word.FAILS, Word.UNTESTED, base=CHECK)
    assert counted([*claims, *own, *checks]) == (
        "5 claims: ✔ 2 supported, ✘ 1 contradicted, ? 1 undecided, – 1 untested;"  # noqa: RUF001
        " 2 questions of our own: ✔ 1 supported, – 1 untested; 1 of 2 checks hold"  # noqa: RUF001
    )
    assert counted(of(Word.ERROR)) == "1 claim: ! 1 error"
    assert counted([]) == checks_in_words(claims) == ""


def test_luck_and_registration_are_told_of_decided_claims_alone() -> None:
    claims = of(Word.SUPPORTED, Word.SUPPORTED, Word.UNDECIDED)
    assert "2 supported claims were false, chance alone would still support about 0.05" in (
        by_luck(claims)
    )
    assert by_luck(of(Word.UNDECIDED)) == registered_in_words(of(Word.UNTESTED)) == ""
    assert registered_in_words(claims) == "All verdicts were registered before the run."
    late = row(Word.CONTRADICTED, registered=False)
    moved = [replace(each, if_halved=Word.UNDECIDED, if_doubled=Word.SUPPORTED) for each in claims]
    assert "Of 3 verdicts that rest on a threshold of ours, 1 stay when it is halved and 2" in (
        if_thresholds_moved([*moved, late])
    )
    assert registered_in_words([*claims, late]).startswith("3 of 4 verdicts were registered")
    assert registered_in_words([late]).startswith("No claim was registered")
    missed = row(Word.UNDECIDED, reason=NO_CONTROL)
    assert missed_in_words([*claims, missed]).startswith("Of the 2 undecided claims 1 missed")
    assert missed_in_words(claims) == ""


def heads(rows: Sequence[CheckRow], **options: bool) -> list[str]:
    """Return the marks of the verdicts that are written out, in their order."""
    lines = check_text(rows, **options).splitlines()
    return [line[2] for line in lines if line[3:].startswith(" toylab/")]


def test_check_writes_out_what_is_against_a_claim_the_worst_first() -> None:
    rows = [*of(*reversed(Word)), CHECK]
    assert heads(rows) == ["!", "✘", "✘", "?"]
    assert heads(rows, brief=True) == ["!", "✘"]
    assert len(heads(rows, everything=True)) == len(rows)
    text = check_text([CLAIM])
    assert text.splitlines() == [
        "toylab at cpu: 1 claim: ? 1 undecided",
        "  ? toylab/fig01:stays: The optimum stays.",
        "    Ours 0.90 ± 0.30 octaves, a factor of 1.9; asked at most 1 octave; 3 seeds.",
        "      About 12 seeds would decide it.",
    ]
    assert check_text([]).startswith("Nothing was run here")


def test_shares_are_told_in_points_their_threshold_too() -> None:
    share = row(
        Word.SUPPORTED, form="within", unit="accuracy", measured=-0.0011, low=-0.0057,
        high=0.0035, threshold=[-0.01, "inf"],
    )  # fmt: skip
    line = ClaimLine(share)
    assert (line.measured, line.asked) == ("-0.11 ± 0.46 points", "at least -1 point")
    assert readable(share).threshold == [-1.0, math.inf]


def test_no_rounding_carries_an_end_over_the_threshold() -> None:
    near = replace(CLAIM, form="more_than", threshold=0.0, measured=6.3, low=0.015, high=12.585)
    line = ClaimLine(replace(near, unit="nats"))
    assert line.measured == "6.30 ± 6.29 nats" and interval(near).startswith("0.01 to 12.5")
    below = replace(near, form="at_least", threshold=97.0, measured=98.1, low=96.96, high=99.24)
    assert interval(below) == "96.96 to 99.24"
    assert ClaimLine(replace(below, unit="%")).measured == "98.10 ± 1.14 %"


def test_a_step_between_ratios_is_no_multiple() -> None:
    step = replace(
        CLAIM, form="strict_ordering", threshold=0.0, measured=-0.2, low=-0.2, high=-0.2,
        unit="ratio",
    )  # fmt: skip
    assert ClaimLine(step).measured == "-0.2"
    assert ClaimLine(replace(step, form="at_most")).measured == "-0.2 times"
