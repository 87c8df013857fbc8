"""Errors: who must act, and the nearest valid name."""

from __future__ import annotations

import pytest

from harness import errors
from harness.errors import HarnessError, nearest


@pytest.mark.parametrize(
    ("name", "code"),
    [("UsageError", 2), ("SpecError", 2), ("DataError", 2), ("EnvError", 2), ("RunError", 3)],
)
def test_each_error_has_the_exit_code_of_who_must_act(name: str, code: int) -> None:
    error = getattr(errors, name)
    assert issubclass(error, HarnessError)
    assert error.exit_code == code


def test_nearest_names_the_typo_s_target_and_nothing_for_gibberish() -> None:
    known = ["supar/fig06", "supar/fig08", "lisa/tab01"]
    assert nearest("supr/fig06", known).startswith("; did you mean 'supar/fig06'")
    assert nearest("qqqqqqqqqqqqq", known) == ""
    assert nearest("x", []) == ""
