"""Kernels under NVIDIA's compute-sanitizer: each in a process of its own, and its errors counted.

`memcheck` sees what lies outside of tensors, `racecheck` what threads of a block do to each other
in shared memory. What other blocks do in main memory neither sees: there bits that come again are
all the evidence. Triton's own sums were seen to race in shared memory with equal or nearly equal
numbers (triton-lang/triton #7264): the words of a row name the kernel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch

from harness.declare import Row
from harness.errors import EnvError, RunError
from reproductions.kernels.compiled.builds import CUDA, TRITON
from reproductions.kernels.on_device.calls import DTYPES, Bands, made, odd_calls
from reproductions.kernels.on_device.experiment import FAULT, Check
from reproductions.kernels.on_device.sizes import cases_of
from reproductions.kernels.speed.contest import Setting
from reproductions.kernels.toolchain.tools import run, tool

PROGRAM = "compute-sanitizer"
OPTIONS = (
    # Compilers that a kernel is built by are no part of it.
    "--target-processes", "application-only",
    # What a library asks for and does not get, it tells itself.
    "--report-api-errors", "no",
    # A tensor's neighbour must not be what lies beyond its end.
    "--padding", "256",
)  # fmt: skip
NO_CACHE = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
"""Memory of each tensor for itself: out of a larger piece nothing beyond its end is seen."""
TIMEOUT_S = 600.0
NUM_CHARS = 600
"""Of what is told of errors."""
ON_PURPOSE = ("write_beyond", "read_unawaited")
"""Kernels of `faults`, which is imported where Triton compiles for a GPU."""


def kernel_names() -> list[str]:
    """Return what the names of our kernels on a GPU hold, by which they are told from others'.

    C++ puts types into a name, behind the letter I.
    """
    by_triton = {build.function.rpartition(":")[2] for build in TRITON}
    by_cuda = {build.function.partition("kernel")[0] + "kernel" for build in CUDA}
    return sorted({*by_triton, *by_cuda, *ON_PURPOSE})


def errors_under(check: Check) -> Row:
    """Return how many errors the checker counts while a kernel makes all its odd calls.

    Raises EnvError where it is not there or gives no number: the trial is to be run again where it
    does. Raises RunError where the kernel itself fails and the checker has no error.
    """
    program = tool(PROGRAM)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [program, "--tool", check.checker, *OPTIONS, "--log-file", str(log)]
        # What torch and cuBLAS start beside ours is theirs to check, and takes long to watch.
        for name in kernel_names():
            command += ["--kernel-name", f"kernel_substring={name}"]
        command += [sys.executable, "-m", __name__, json.dumps(check.to_json())]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
                env={**os.environ, **NO_CACHE, "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise RunError(f"{check.kernel} under {PROGRAM} took over {TIMEOUT_S:g} s") from error
        told = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    release = re.search(r"Version ([0-9.]+)", run([program, "--version"]))
    row = read(told, answer=done.stdout, failure=done.stderr)
    return {**row, "release": release[1] if release else ""}


def read(told: str, *, answer: str, failure: str) -> Row:
    """Read what the checker wrote, beside what the process answered and failed with.

    Raises EnvError for no number, RunError for a kernel that failed and no error.
    """
    lines = answer.strip().splitlines()
    if lines and (missing := json.loads(lines[-1])["missing"]):
        raise EnvError(missing)
    summary = _SUMMARY.search(told)
    if summary is None or _INTERNAL in told:
        raise EnvError(f"{PROGRAM} says no sum: {_shortened(told or failure)}")
    num_errors = int(summary[1])
    if not lines and not num_errors:
        raise RunError(f"a kernel under {PROGRAM} failed by itself: {_shortened(failure)}")
    return {
        "num_errors": num_errors,
        "told": _shortened(told) if num_errors else "",
        "missing": "",
    }


_SUMMARY = re.compile(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: )(\d+) (?:error|hazard)")
_INTERNAL = "Internal Sanitizer"


def _shortened(text: str) -> str:
    """Return the start of a text in one line, without the marks of the checker."""
    words = [word for word in text.split() if set(word) != {"="}]
    return " ".join(words)[:NUM_CHARS]


def main(words: Sequence[str]) -> None:
    """Make all odd calls of a kernel, in a process that a checker watches."""
    check = Check.from_json(json.loads(words[0]))
    try:
        num_calls, missing = call_all(check), ""
    except EnvError as error:
        num_calls, missing = 0, str(error)
    sys.stdout.write(json.dumps({"num_calls": num_calls, "missing": missing}) + "\n")


def call_all(check: Check) -> int:
    """Make all odd calls of a kernel, or those that are wrong on purpose; return how many."""
    device = torch.device(check.device)
    if check.kernel == FAULT:
        # Of Triton alone, and only where it compiles for a GPU.
        from reproductions.kernels.on_device.faults import commit

        commit(check.checker, device)
        return 1
    setting, generator = Setting(DTYPES[check.precision], device), torch.Generator().manual_seed(0)
    num_calls = 0
    cases = cases_of(check.kernel, check.device, check.backend)
    for call in odd_calls(cases, check.backend, setting, generator):
        # No bands: what lies beyond a tensor must be nobody's.
        made(call, check.backend, Bands(num_bytes=0, shift=call.shift).place)
        num_calls += 1
    if device.type == "cuda":
        torch.cuda.synchronize()
    return num_calls


if __name__ == "__main__":
    main(sys.argv[1:])
