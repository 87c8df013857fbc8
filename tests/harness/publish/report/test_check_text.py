"""What `repro check` prints: counts in words, worst first, never wider than 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.declare.verdict import Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import (
    checks_in_words,
    claims_in_words,
    counted_in_words,
    own_in_words,
    seals_text,
)
from harness.publish.report.check_text import Shown, check_text, counts_text, notes
from harness.publish.report.text import interval
from harness.publish.report.units import reading
from harness.store.meta import TOO_FEW

CLAIM = CheckRow(
    task="toylab/fig01",
    claim="stays",
    form="at_most",
    grade="empirical",
    profile="cpu",
    verdict=Word.INCONCLUSIVE,
    reason="the interval overlaps the threshold",
    measured=4.2013,
    low=3.8500,
    high=4.5526,
    num_seeds=3,
    threshold=1.0,
    threshold_from="ours",
    paper_value=None,
    seal="sealed",
)
CHECK = replace(
    CLAIM, claim="count", grade="exact", verdict=Word.HOLDS, reason="", low=4.2013, high=4.2013
)
OTHER = replace(CHECK, task="toylab/fig02")
GONE = replace(CLAIM, claim="gone", seal="withdrawn", decides=False, verdict=Word.NOT_RUN)
STATEMENT = "The optimal learning rate moves by at most one factor-2 step. " * 3


def of(row: CheckRow, *words: Word) -> list[CheckRow]:
    """Return a row per verdict."""
    return [replace(row, verdict=word) for word in words]


def told(rows: Sequence[CheckRow], **options: bool) -> str:
    def tell(row: CheckRow) -> Shown:
        return Shown(
            row=row,
            statement=f"{STATEMENT} (here MNIST for SVHN)",
            unit="octaves",
            stands_in="MNIST for SVHN",
            seed="one trained net",
            what_number=f"{row.deciding} decides, worst of 3 steps" if row.deciding else "",
        )

    return check_text(rows, tell, **options)


def heads(text: str) -> list[str]:
    """Return the verdict words that blocks begin with, in their order."""
    words = {str(word) for word in Word}
    below = text.partition("\n\n")[2].splitlines()
    return [line.split()[0] for line in below if line and line.split()[0] in words]


def test_checks_are_counted_apart_from_claims() -> None:
    rows = [*of(CHECK, Word.HOLDS, Word.HOLDS), *of(CLAIM, Word.REPRODUCED, Word.INCONCLUSIVE)]
    assert checks_in_words(rows) == "2 of 2 checks hold"
    assert (
        claims_in_words(rows) == "1 reproduced (1 that no relabelling can test), 0 not, 1 undecided"
    )
    assert counts_text(rows).splitlines() == [
        "toylab at cpu: 2 of 2 checks hold; claims: 1 reproduced (1 that no relabelling",
        "  can test), 0 not, 1 undecided",
        "seals of 1 decided: 1 sealed",
    ]


def test_questions_of_our_own_are_counted_apart_from_claims_of_the_paper() -> None:
    own = replace(CLAIM, own_question=True)
    rows = [*of(own, Word.REPRODUCED, Word.INCONCLUSIVE), *of(CLAIM, Word.NOT_REPRODUCED)]
    assert claims_in_words(rows) == "0 reproduced, 1 not"
    assert own_in_words(rows) == "2 questions of our own: 1 yes, 0 no, 1 undecided"
    assert counts_text(rows).splitlines() == [
        "toylab at cpu: no checks; claims: 0 reproduced, 1 not; and 2 questions of our",
        "  own: 1 yes, 0 no, 1 undecided",
        "seals of 1 decided: 1 sealed",
    ]
    assert seals_text(rows[:2]) == ""


def test_halves_of_a_claim_are_counted_apart_from_their_whole() -> None:
    half = replace(CLAIM, half_of="fails")
    rows = [*of(half, Word.NOT_REPRODUCED, Word.REPRODUCED), *of(CLAIM, Word.INCONCLUSIVE)]
    assert claims_in_words(rows) == "1 undecided"
    assert seals_text(rows) == ""
    both = "2 halves of either-or claims, judged within their wholes"
    assert counted_in_words(rows) == f"no checks; claims: 1 undecided; and {both}"
    one = "1 half of an either-or claim, judged within its whole"
    own = replace(CLAIM, own_question=True)
    assert counted_in_words([half, own]) == (
        f"no checks; claims: none; {one}; and 1 question of our own: 1 undecided"
    )


def test_what_is_built_in_is_counted_among_what_was_reproduced() -> None:
    built = replace(CLAIM, verdict=Word.REPRODUCED, by_construction="set by the rule")
    rows = [built, replace(built, by_construction=""), replace(built, verdict=Word.INCONCLUSIVE)]
    assert claims_in_words(rows) == (
        "2 reproduced (2 that no relabelling can test; 1 of the 2 by construction),"
        " 0 not, 1 undecided"
    )


def test_what_did_not_hold_is_read_beside_what_did() -> None:
    assert claims_in_words(of(CLAIM, Word.NOT_REPRODUCED)) == "0 reproduced, 1 not"
    assert claims_in_words(of(CLAIM, Word.OUT_OF_PROFILE)) == "1 out of scale"
    assert checks_in_words([CHECK]) == "1 of 1 check holds"
    rows = of(CHECK, Word.HOLDS, Word.FAILS, Word.OUT_OF_PROFILE)
    assert checks_in_words(rows) == "1 of 2 checks hold, 1 FAIL, 1 more out of scale"


def test_a_check_that_this_scale_cannot_decide_reads_as_no_failure() -> None:
    out = of(CHECK, Word.OUT_OF_PROFILE, Word.OUT_OF_PROFILE)
    assert checks_in_words(out) == "2 checks, out of scale here"
    assert counted_in_words(out[:1]) == "1 check, out of scale here; claims: none"
    held = "1 of 1 check holds, 2 more out of scale"
    assert checks_in_words([CHECK, *out]) == held
    # What was not run here could have been.
    assert checks_in_words(of(CHECK, Word.NOT_RUN)) == "0 of 1 check holds, 1 not run"


def test_what_chance_could_have_reproduced_is_counted_apart_and_told() -> None:
    weak = replace(CLAIM, verdict=Word.REPRODUCED, reason="", chance_rate=0.14, weak=True)
    few = replace(weak, chance_rate=None, weak=None, chance_reason=TOO_FEW)
    rows = [weak, few, replace(weak, chance_rate=0.0121, weak=False)]
    assert claims_in_words(rows) == (
        "3 reproduced (1 where chance alone gives that in at most 1.3 %; 1 weak, where it"
        " does in at most 14 %; 1 with too few seeds to say), 0 not"
    )
    # It says nothing against what did not hold.
    assert notes(replace(few, verdict=Word.NOT_REPRODUCED)) == []
    assert notes(weak) == ["weak: chance alone gives REPRODUCED in 14 % of relabellings"]
    assert notes(replace(CLAIM, seeds_to_decide=12)) == ["about 12 seeds would decide it"]


def test_what_does_not_decide_is_not_counted() -> None:
    rows = [CLAIM, replace(CLAIM, cohort="cohort-1", decides=False), GONE]
    assert claims_in_words(rows) == "1 undecided"
    hidden = "1 verdict on seeds other than those that decide, 1 claim that was withdrawn."
    assert hidden in " ".join(told(rows).split())


def test_papers_and_profiles_are_counted_each_by_itself() -> None:
    rows = [CLAIM, replace(CLAIM, profile="smoke"), replace(CLAIM, task="other/fig01")]
    lines = counts_text(rows).splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "toylab at smoke", "toylab at cpu", "other at cpu",
    ]  # fmt: skip


def test_worst_comes_first_and_what_holds_is_behind_all() -> None:
    rows = [*of(CLAIM, *reversed(Word)), replace(CHECK, verdict=Word.FAILS), CHECK]
    worst = ["FAILS", "FAILS", "ERROR", "NOT_REPRODUCED", "INCONCLUSIVE"]
    assert heads(told([*rows, OTHER])) == worst
    assert heads(told(rows)) == worst
    rest = ["NOT_RUN", "REPRODUCED", "HOLDS", "HOLDS", "OUT_OF_PROFILE"]
    assert heads(told(rows, everything=True)) == worst + rest


def test_brief_writes_out_only_what_fails_the_command() -> None:
    rows = [*of(CLAIM, *Word), replace(CHECK, verdict=Word.FAILS)]
    assert heads(told(rows, brief=True)) == [
        str(row.verdict) for row in sorted(rows, key=lambda r: r.verdict != "FAILS") if row.fails
    ]


def test_withdrawn_claim_without_a_reason_is_always_told() -> None:
    assert heads(told([GONE])) == []
    assert heads(told([replace(GONE, verdict=Word.ERROR)])) == ["ERROR"]


def test_block_has_statement_number_unit_what_was_asked_and_reason() -> None:
    late = replace(CLAIM, seal="late", paper_value=0.29)
    block = told([late]).split("\n\n")[1].splitlines()
    assert block[0] == "INCONCLUSIVE  toylab/fig01:stays at cpu"
    stated = f"{STATEMENT} (here MNIST for SVHN)"
    assert " ".join(line.strip() for line in block[1:-3]) == " ".join(stated.split())
    assert [line.strip() for line in block[-3:]] == [
        "ours 4.20 ± 0.35 octaves, a factor of 18 (3 seeds, each one trained net);",
        "asked at most 1 octave; paper 0.29",
        "the interval overlaps the threshold; seal late",
    ]
    assert told([late]).count("95 % interval") == 1
    assert "paper (derived): 0.29" in told([replace(late, paper_standing="derived")])
    assert "seal late: it was declared after some of its trials had run." in told([late])


def test_interval_that_lies_unevenly_keeps_both_ends() -> None:
    ratio = replace(CLAIM, form="ratio", threshold=["-inf", 2.0], measured=2.0, low=1.0, high=4.0)
    assert "ours 2.0 octaves, a factor of 4 (1.0 to 4.0, 3 seeds, each one trained net)" in told(
        [ratio]
    )


def test_deterministic_number_has_no_interval() -> None:
    row = replace(CLAIM, low=4.2013, high=4.2013, num_seeds=0)
    assert "ours 4.201 octaves, a factor of 18 (deterministic)" in told([row])
    assert "±" not in told([row])


def test_seal_differences_stand_where_they_may_have_moved_the_verdict() -> None:
    lines = {"differences": ("threshold then: 2", "now: 1")}
    assert notes(replace(CLAIM, seal="changed", **lines)) == [
        "seal changed: threshold then: 2; now: 1"
    ]
    assert notes(replace(CLAIM, seal="restated", **lines)) == ["seal restated"]
    assert notes(CLAIM) == []


@pytest.mark.parametrize("word", Word)
def test_no_line_is_wider_than_80_columns(word: Word) -> None:
    """Nor with names, reasons and seals that are longer than a line."""
    long = replace(
        CLAIM,
        verdict=word,
        claim="a_name_of_many_words_" * 5,
        reason="/a/path/without/any/space" * 10,
        seal="changed",
        differences=("trials differ " * 20,),
    )
    for row in (long, replace(long, claim="x" * 40), replace(long, grade="exact")):
        text = told([row] * 1000, everything=True)
        assert max(map(len, text.splitlines())) <= 80
        assert heads(text) == [str(word)] * 1000


def test_of_several_tasks_each_claim_has_a_line_with_its_numbers() -> None:
    """And the task names once what stood in and what a seed is."""
    rows = [CLAIM, replace(CLAIM, claim="moves", deciding="step 2 of 3", seal="late"), OTHER]
    section = told(rows).split("\n\n")[1].splitlines()
    assert section == [
        "INCONCLUSIVE",
        "toylab/fig01 at cpu; here MNIST for SVHN; a seed is one trained net",
        "  stays: ours 4.20 ± 0.35 octaves, a factor of 18 (3 seeds); asked at most 1",
        "    octave",
        "  moves: ours 4.20 ± 0.35 octaves, a factor of 18 (step 2 of 3 decides, worst of",
        "    3 steps; 3 seeds); asked at most 1 octave",
    ]
    assert "What a claim states" in told(rows)
    assert "What a claim states" not in told([CLAIM])


def test_a_line_marks_what_its_verdict_does_not_say() -> None:
    half = replace(CLAIM, claim="rises", half_of="moves", by_construction="set by the rule")
    rows = [replace(CLAIM, own_question=True), replace(CLAIM, claim="moves"), half, OTHER]

    def tell(row: CheckRow) -> Shown:
        return Shown(row=row, caveat="not plotted" if row.claim == "moves" else "")

    lines = check_text(rows, tell).splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("  ") and "ours " in line] == [
        "  stays (ours)",
        "  moves (not plotted)",
        "  rises (half of an either-or, set by the rule)",
    ]
    assert "toylab/fig01:stays (ours) at cpu" in check_text(rows[:1], tell)


def test_what_does_not_count_is_not_headed_by_its_verdict_alone() -> None:
    rows = [
        replace(GONE, verdict=Word.REPRODUCED),
        GONE,
        replace(CLAIM, cohort="cohort-1", decides=False, verdict=Word.REPRODUCED),
    ]
    text = told(rows, everything=True)
    assert "WITHDRAWN (was REPRODUCED)  toylab/fig01:gone at cpu" in text
    assert "WITHDRAWN  toylab/fig01:gone at cpu" in text
    assert "BESIDE (REPRODUCED)  toylab/fig01:stays at cpu" in text


def test_nothing_to_tell_says_so() -> None:
    assert told([]) == "No claim is declared."
    assert told([GONE]).startswith("Nothing here decides.")


def test_shares_are_told_in_points_threshold_and_seal_with_them() -> None:
    row = replace(
        CLAIM, form="within", measured=-0.0011, low=-0.0057, high=0.0035, threshold=[-0.01, "inf"],
        seal="changed",
        differences=("measured: -0.0131 then, -0.0011 now", "low: None then, 0 now"),
    )  # fmt: skip
    read = reading(row, "accuracy", tolerance=0.005)
    assert read.ours == "-0.11 ± 0.46 points" and read.tolerance == 0.5
    assert read.row.threshold == [-1.0, math.inf]
    assert read.row.differences == ("measured: -1.31 then, -0.11 now", "low: None then, 0 now")
    assert interval(read.row) == "-0.57 to 0.35"
    assert reading(row, "nats").row == row


def test_no_rounding_carries_an_end_over_the_threshold() -> None:
    near = replace(CLAIM, form="more_than", threshold=0.0, measured=6.3, low=0.015, high=12.585)
    read = reading(near, "nats")
    assert read.ours == "6.30 ± 6.29 nats" and interval(near).startswith("0.01 to 12.5")
    below = replace(near, form="at_least", threshold=97.0, measured=98.1, low=96.96, high=99.24)
    assert interval(below) == "96.96 to 99.24" and reading(below, "%").ours == "98.10 ± 1.14 %"


def test_a_step_between_ratios_is_no_multiple() -> None:
    step = replace(CLAIM, form="strict_ordering", threshold=0.0, measured=-0.2, low=-0.2, high=-0.2)
    assert reading(step, "ratio").ours == "-0.2"
    assert reading(replace(step, form="at_most"), "ratio").ours == "-0.2 times"
