"""A fresh process is another one, gives back JSON, and its failure is told in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import RunError, SpecError
from harness.measure.fresh_process import call_fresh
from tests.harness.processes import assert_gone
from tests.waiting import wait_for


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


def test_what_cannot_be_imported_is_refused() -> None:
    with pytest.raises(SpecError, match="function of a module"):
        call_fresh(lambda: None, {})


def _named(module: str, name: str) -> Callable[..., object]:
    def stand_in() -> None: ...

    stand_in.__module__, stand_in.__qualname__ = module, name
    return stand_in


def sleep_and_tell(*, place: str) -> None:
    """Write this process' id to `place`, then do nothing for longer than any test."""
    (Path(place) / str(os.getpid())).touch()
    time.sleep(600)


CALLER = """
import signal, sys
from harness.measure.fresh_process import call_fresh
from tests.harness.measure.test_fresh_process import sleep_and_tell
# A job in the background of a shell has interrupts switched off.
signal.signal(signal.SIGINT, signal.default_int_handler)
call_fresh(sleep_and_tell, {"place": sys.argv[1]})
"""


def process_in(place: Path) -> int:
    """Wait for a process to tell its id."""
    wait_for(lambda: list(place.iterdir()))
    (told,) = place.iterdir()
    return int(told.name)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_dies_with_its_caller(tmp_path: Path, number: signal.Signals) -> None:
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, str(tmp_path)], stderr=subprocess.DEVNULL
    )
    child = process_in(tmp_path)
    caller.send_signal(number)
    caller.wait()
    assert_gone([child])
