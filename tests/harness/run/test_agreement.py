"""Each outcome is reached for its own reason, and missed for the reason it names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.declare.params import Scalar
from harness.run.verify import (
    ABSOLUTE,
    RELATIVE,
    Comparison,
    Spread,
    compare,
    compare_rows,
    relative_difference,
)
from harness.store.trial import Trial
from harness.store.record import Record
from tests.harness.hand_made import EXPERIMENT
from tests.harness.inline_lab import make_record

Rows = Sequence[Mapping[str, Scalar | None]]


def record(seed: int, *ys: float | None, status: str = "done") -> Record:
    trial = Trial(EXPERIMENT, {"seed": seed}, "smoke")
    return make_record(trial, status=status, rows=[{"y": y} for y in ys])


def outcome(old: Rows, new: Rows, *, measured: Sequence[str] = ()) -> str:
    return compare_rows(old, new, measured=measured).outcome


# Rows


def test_equal_rows_are_bit() -> None:
    rows: Rows = [{"y": 0.1, "n": 3, "ok": True, "name": "a", "gone": None}]
    assert compare_rows(rows, [dict(row) for row in rows]) == Comparison(
        outcome="bit", relative=0.0
    )


def test_measured_columns_are_left_out() -> None:
    old, new = [{"y": 1.0, "step_ms": 3.0}], [{"y": 1.0, "step_ms": 9.0}]
    assert outcome(old, new, measured=["step_ms"]) == "bit"
    assert outcome(old, new) == "differs"


def test_the_largest_difference_and_its_column_are_kept() -> None:
    old = [{"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0}]
    new = [{"a": 1.0 + 1e-7, "b": 1.0}, {"a": 1.0, "b": 1.0 - 1e-5}]
    found = compare_rows(old, new)
    assert (found.outcome, found.column) == ("close", "b")
    assert found.relative == pytest.approx(1e-5)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (1.0, 1.0 + 0.9e-4, "close"),
        (1.0, 1.0 + 1.1e-4, "differs"),
        (-1e6, -1e6 - 90.0, "close"),
        (0.0, 0.9e-9, "close"),
        (0.0, 1.1e-9, "differs"),
        (1.0, -1.0, "differs"),
        (1e308, -1e308, "differs"),
    ],
)
def test_floats_have_one_limit(old: float, new: float, word: str) -> None:
    found = compare_rows([{"y": old}], [{"y": new}])
    assert (found.outcome, found.reason, found.column) == (word, "", "y")
    assert found.relative is not None and math.isfinite(found.relative)


@pytest.mark.parametrize(
    ("old", "new", "reason", "relative"),
    [
        ({"n": 10_000_000}, {"n": 10_000_001}, "row 0 n: 10000000 then, 10000001 now", 1e-7),
        ({"n": 2}, {"n": 2.0}, "row 0 n: 2 then, 2.0 now", 0.0),
        ({"n": True}, {"n": 1}, "row 0 n: True then, 1 now", 0.0),
        ({"n": 1.0}, {"n": None}, "row 0 n: 1.0 then, None now", 0.0),
        ({"n": "a"}, {"n": "b"}, "row 0 n: 'a' then, 'b' now", 0.0),
        ({"n": 1.0}, {}, "row 0 n: 1.0 then, 'absent' now", 0.0),
        ({}, {"n": 1.0}, "row 0 n: 'absent' then, 1.0 now", 0.0),
    ],
)
def test_all_but_floats_must_be_equal(
    old: dict[str, Any], new: dict[str, Any], reason: str, relative: float
) -> None:
    found = compare_rows([old], [new])
    assert (found.outcome, found.reason) == ("differs", reason)
    assert found.relative == pytest.approx(relative, rel=1e-6)


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(numbers, numbers)
def test_the_limit_is_that_of_isclose(old: float, new: float) -> None:
    found = relative_difference(old, new)
    assume(abs(found / RELATIVE - 1.0) > 1e-9)
    assert found == relative_difference(new, old)
    assert (found <= RELATIVE) == math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


# Records


def unasked() -> Spread:
    raise AssertionError("the claims need not be asked")


def test_another_status_differs() -> None:
    found = compare(record(0, 1.0), record(0, 1.0, status="diverged"), measured=(), spread=unasked)
    assert found == Comparison(outcome="differs", reason="done then, diverged now")


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("FileNotFoundError: '/srv/somebody/net.bin'", ": FileNotFoundError"),
        ("urllib3.exceptions.MaxRetryError: host", ": urllib3.exceptions.MaxRetryError"),
        ("it ran longer than 60 s", ": it ran longer than 60 s"),
        ("its worker died (exit code -9)", ": its worker died (exit code -9)"),
        ("/srv/somebody/net.bin: the second line of a message", ""),
    ],
)
def test_a_failure_differs_and_names_no_folder(note: str, told: str) -> None:
    failed = record(0, status="failed").model_copy(update={"note": note})
    found = compare(record(0, 1.0), failed, measured=(), spread=unasked)
    assert (found.outcome, found.reason) == ("differs", f"done then, failed now{told}")


def test_what_was_skipped_is_not_run() -> None:
    skipped = record(0, status="skipped").model_copy(update={"note": "needs demo/base"})
    found = compare(record(0, 1.0), skipped, measured=(), spread=unasked)
    assert found == Comparison(outcome="not_run", reason="needs demo/base")


def test_another_number_of_rows_differs() -> None:
    found = compare(record(0, 1.0, 2.0), record(0, 1.0), measured=(), spread=unasked)
    assert found == Comparison(outcome="differs", reason="2 rows then, 1 now")


def test_claims_are_asked_only_beyond_rounding() -> None:
    for y in (1.0, 1.00001):
        compare(record(0, 1.0), record(0, y), measured=(), spread=unasked)
    for within, word in ((True, "spread"), (False, "differs")):
        found = compare(
            record(0, 1.0), record(0, 2.0), measured=(), spread=lambda w=within: Spread(
                within=w, reason="why"
            ),
        )  # fmt: skip
        assert (found.outcome, found.reason, found.column) == (word, "why", "y")
        assert found.relative == pytest.approx(0.5)
