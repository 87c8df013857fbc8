"""A fresh process is another one, gives back JSON, and its failure is told in one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import RunError, SpecError
from harness.measure.fresh_process import call_fresh


def who(*, word: str, numbers: list[float]) -> dict[str, Any]:
    print("a library's greeting must not be taken for the result")
    return {"pid": os.getpid(), "torch": "torch" in sys.modules, "told": [word, *numbers]}


def fail() -> None:
    raise ValueError("as asked")


def test_the_result_comes_from_another_process_with_nothing_imported() -> None:
    found = call_fresh(who, {"word": "a", "numbers": [1.5, 2.0]})
    assert found["told"] == ["a", 1.5, 2.0]
    assert found["pid"] != os.getpid()
    assert not found["torch"]


def test_a_failure_gives_its_last_line() -> None:
    with pytest.raises(RunError, match=r"test_fresh_process:fail .*\(ValueError: as asked\)"):
        call_fresh(fail, {})
    with pytest.raises(RunError, match="no_such_function"):
        call_fresh(_named("harness.errors", "no_such_function"), {})


def test_a_process_that_takes_too_long_is_ended() -> None:
    with pytest.raises(RunError, match=r"took over 0\.01 s"):
        call_fresh(who, {"word": "a", "numbers": []}, timeout_s=0.01)


def test_what_cannot_be_imported_is_refused() -> None:
    with pytest.raises(SpecError, match="function of a module"):
        call_fresh(lambda: None, {})


def _named(module: str, name: str) -> Callable[..., object]:
    def stand_in() -> None: ...

    stand_in.__module__, stand_in.__qualname__ = module, name
    return stand_in
