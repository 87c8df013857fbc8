"""Kernels under compute-sanitizer: what it counts is read, and what it does not say is no zero."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.declare.verdict import Word
from harness.errors import EnvError, RunError
from harness.registry import load_registry
from reproductions.kernels.on_device import sanitizer
from reproductions.kernels.on_device.experiment import FAULT
from tests.verdicts import controlled

TASK = load_registry().tasks["kernels/watched"]
CLAIMS = {claim.id: claim for claim in TASK.claims}
CHECKERS = {"no_memory_errors": "memcheck", "no_races": "racecheck"}
HEAD = "========= COMPUTE-SANITIZER\n"
MEMCHECK = (
    HEAD
    + """
========= Invalid __global__ write of size 4 bytes
=========     at step_chunk+0x90
========= ERROR SUMMARY: 2 errors
"""
)
RACECHECK = (
    HEAD
    + """
========= Error: Race reported between Write access at row_slope+0x90
=========     and Read access at row_slope+0x100 [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
)
CLEAN = HEAD + "========= ERROR SUMMARY: 0 errors\n"
NOT_WATCHED = HEAD + (
    "========= Error: Target application terminated before first instrumented API call\n"
)
DONE = '{"num_calls": 12, "missing": ""}\n'


def test_errors_and_hazards_are_counted_and_told() -> None:
    found = sanitizer.read(MEMCHECK, answer=DONE, failure="")
    assert found["num_errors"] == 2 and "at step_chunk+0x90" in str(found["told"])
    assert "===" not in str(found["told"])
    # Also those that end the process.
    assert sanitizer.read(RACECHECK, answer="", failure="launch failure")["num_errors"] == 1
    clean = sanitizer.read(CLEAN, answer=DONE, failure="")
    assert clean == {"num_errors": 0, "told": "", "missing": ""}


@pytest.mark.parametrize("told", ["", NOT_WATCHED, CLEAN + "========= Internal Sanitizer Error"])
def test_no_sum_is_no_zero_and_no_result(told: str) -> None:
    with pytest.raises(EnvError, match="says no sum"):
        sanitizer.read(told, answer=DONE, failure="it failed")
    with pytest.raises(RunError, match="failed by itself: ValueError: as asked"):
        sanitizer.read(CLEAN, answer="", failure="ValueError: as asked")


def test_all_kernels_of_ours_are_watched_by_name() -> None:
    """One that is launched and not named would have no error, whatever it does."""
    folder = Path(sanitizer.__file__).parents[1]
    found: set[str] = set()
    for source in [*folder.glob("*/in_triton.py"), folder / "on_device/faults.py"]:
        # What one calls itself begins with an underscore.
        found |= set(re.findall(r"@triton.jit\ndef ([a-z]\w+)", source.read_text()))
    for source in folder.glob("*/cuda/*.cu"):
        kernels = re.findall(r"__global__ void [^{]*?(\w+)\(\w+ \w+\) {", source.read_text())
        found |= set(kernels)
    assert len(found) >= 12 and set(sanitizer.kernel_names()) == found


def watched(num_in_kernels: int, num_on_purpose: int) -> pd.DataFrame:
    """Return what both checkers count."""
    counted = {"sign_ops": num_in_kernels, "rademacher": 0, FAULT: num_on_purpose}
    return pd.DataFrame(
        [
            {"checker": checker, "kernel": kernel, "num_errors": num, "missing": ""}
            for checker in CHECKERS.values()
            for kernel, num in counted.items()
        ],
        columns=TASK.table.names,
    )


@pytest.mark.parametrize("claim", CHECKERS)
def test_checks_hold_fail_and_are_not_evaluated(claim: str) -> None:
    def verdict(table: pd.DataFrame, profile: Any = "gpu") -> Any:
        return controlled(CLAIMS[claim], table, seed=None, profile=profile)

    assert verdict(watched(0, 1)).word == Word.HOLDS
    failed = verdict(watched(2, 1))
    assert (failed.word, failed.measured) == (Word.FAILS, 2)
    blind = verdict(watched(0, 0))
    assert blind.word == Word.UNTESTED and "does not find a fault on purpose" in blind.reason
    # What is found counts, whatever was not watched.
    table = watched(0, 1)
    table.loc[table["kernel"] == "rademacher", "missing"] = "it says no sum"
    assert verdict(table).word == Word.UNTESTED
    table.loc[table["kernel"] == "sign_ops", "num_errors"] = 1
    assert verdict(table).word == Word.FAILS
    assert verdict(watched(0, 1).assign(checker="outputs")).word == Word.UNTESTED
    assert verdict(watched(2, 1), "smoke").word == Word.UNTESTED
