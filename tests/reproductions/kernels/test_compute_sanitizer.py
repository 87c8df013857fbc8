"""Kernels under compute-sanitizer: what it counts is read, and what it does not say is no zero.

There is no GPU here, so a stand-in runs the process and writes what the tool would.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.declare.verdict import Word
from harness.errors import EnvError, RunError
from harness.measure.fresh_process import call_fresh
from harness.registry import load_registry
from reproductions.kernels.on_device import sanitizer
from reproductions.kernels.on_device.experiment import FAULT, Check, checks
from reproductions.kernels.on_device.trial import check_rows
from reproductions.kernels.toolchain.tools import run, tool
from tests.reproductions.kernels.test_speed import Context
from tests.verdicts import controlled

TASK = load_registry().tasks["kernels/on_device"]
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


def test_a_kernel_that_fails_without_an_error_is_no_zero_either() -> None:
    with pytest.raises(RunError, match="failed by itself: ValueError: as asked"):
        sanitizer.read(CLEAN, answer="", failure="ValueError: as asked")
    lacks = '{"num_calls": 0, "missing": "nvcc is not installed"}\n'
    with pytest.raises(EnvError, match="nvcc is not installed"):
        sanitizer.read(NOT_WATCHED, answer=lacks, failure="")


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
    assert len(found) >= 14 and set(sanitizer.kernel_names()) == found


STAND_IN = """#!/bin/sh
if [ "$1" = --version ]; then echo "Version 2026.4.0.0 (build 1)"; exit; fi
[ "$1 $2" = "--tool memcheck" ] && [ "$PYTORCH_NO_CUDA_MEMORY_CACHING" = 1 ] || exit 9
case "$*" in *"--kernel-name kernel_substring=pass_over"*) ;; *) exit 7;; esac
while [ "$1" != --log-file ]; do shift; done
log="$2"; shift 2
while [ "$1" = --kernel-name ]; do shift 2; done
"$@" || exit 8
echo "========= ERROR SUMMARY: 0 errors" >"$log"
"""


def test_a_kernel_makes_its_calls_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "compute-sanitizer"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setattr(sanitizer, "tool", lambda name: str(program))
    check = Check(
        kernel="rademacher", backend="cuda", precision="float32", checker="memcheck", device="cpu",
    )  # fmt: skip
    (row,) = check_rows(check, Context())  # type: ignore[arg-type]
    assert (row["num_errors"], row["missing"], row["release"]) == (0, "", "2026.4.0.0")


def test_where_the_tool_is_not_there_nothing_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> str:
        raise EnvError(f"{name} is not installed: get it")

    monkeypatch.setattr(sanitizer, "tool", lacking)
    watched = next(point for point in checks.params_of("gpu") if point["checker"] != "outputs")
    with pytest.raises(EnvError, match="compute-sanitizer is not installed"):
        check_rows(checks.typed(watched), Context())  # type: ignore[arg-type]


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


@pytest.mark.kernels
def test_the_tool_without_a_gpu_has_no_sum() -> None:
    """It is what pip brings; of a process that uses no GPU it says that it saw nothing."""
    check = Check(
        kernel="sign_ops", backend="plain", precision="float32", checker="memcheck", device="cpu",
    )  # fmt: skip
    with pytest.raises(EnvError, match="compute-sanitizer says no sum"):
        sanitizer.errors_under(check)


def compile_faults(*, arch: int) -> dict[str, str]:
    """Compile what is wrong on purpose for a GPU; return cubins in base 64."""
    import os

    os.environ.pop("TRITON_INTERPRET", None)
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from reproductions.kernels.on_device import faults

    sources = {
        "memcheck": ASTSource(
            fn=faults.write_beyond,
            signature={"target": "*i32", "size": "i32", "BLOCK": "constexpr"},
            constexprs={"BLOCK": 2 * faults.SIZE},
        ),
        "racecheck": ASTSource(
            fn=faults.read_unawaited,
            signature={"target": "*i32", "asm": "constexpr", "BLOCK": "constexpr"},
            constexprs={"asm": faults.READ_OF_ANOTHER_WARP, "BLOCK": faults.SIZE},
        ),
    }  # fmt: skip
    target, options = GPUTarget("cuda", arch, 32), {"num_warps": faults.NUM_WARPS}
    return {
        name: base64.b64encode(
            triton.compile(source, target=target, options=options).asm["cubin"]
        ).decode()
        for name, source in sources.items()
    }


@pytest.mark.kernels
@pytest.mark.parametrize("arch", [80, 90])
def test_faults_are_still_there_when_they_are_compiled(tmp_path: Path, arch: int) -> None:
    made = call_fresh(compile_faults, {"arch": arch}, timeout_s=300.0)
    names = {}
    for checker, code in made.items():
        file = tmp_path / checker
        file.write_bytes(base64.b64decode(code))
        beside = str(Path(tool("nvdisasm")).parent)
        sass = run([tool("cuobjdump"), "-sass", str(file)], NVDISASM_PATH=beside)
        names[checker] = re.findall(r"\*/ +(?:@!?U?P\w+ +)?([A-Z]+)", sass)
    assert "STG" in names["memcheck"]
    # In shared memory a store, then a load, and no barrier between them.
    written, read = names["racecheck"].index("STS"), names["racecheck"].index("LDS")
    assert written < read and "BAR" not in names["racecheck"][written:read]
