"""CUDA sources become a library that loads, and that stays within its tensors."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from reproductions.kernels.toolchain import built
from reproductions.kernels.toolchain.tools import run, tool
from tests.checkout import ROOT

HERE = "tests/reproductions/kernels"
RUNTIMES = ("libasan.so", "libubsan.so")
ROUNDED = """
#include "both.h"
extern "C" void narrowed(BFloat16* to, const float* from, long count) {
  for (long i = 0; i < count; ++i) from_float(to[i], from[i]);
}
extern "C" void widened(float* to, const BFloat16* from, long count) {
  for (long i = 0; i < count; ++i) to[i] = to_float(from[i]);
}
"""
LAUNCHERS = {"adamw": "step_float32", "rademacher": "launch_combine"}


@pytest.mark.kernels
@pytest.mark.parametrize(("kernel", "arch"), [("adamw", "sm_90"), ("rademacher", "sm_80")])
def test_a_library_for_a_gpu_links_and_loads(tmp_path: Path, kernel: str, arch: str) -> None:
    source = Path(built.__file__).parents[1] / kernel / "cuda" / f"{kernel}.cu"
    library = tmp_path / f"{kernel}.so"
    run([*built.nvcc_for(arch), *built.SHARED, str(source), "-o", str(library)])
    # Without a driver it loads, and can launch nothing.
    assert hasattr(ctypes.CDLL(str(library)), LAUNCHERS[kernel])


def under_sanitizers(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the sanitizers' runtimes, which have to come before all others."""
    found = [run([tool("g++"), f"-print-file-name={name}"]).strip() for name in RUNTIMES]
    if not all(map(os.path.isabs, found)):
        pytest.skip("g++ has no sanitizers here: it comes without their runtimes")
    # Python itself leaks.
    added = {"LD_PRELOAD": " ".join(found), "ASAN_OPTIONS": "detect_leaks=0"}
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=env | added, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


def test_cuda_sources_stay_within_their_tensors_and_within_the_language() -> None:
    """Built for a host: address and undefined-behaviour sanitizers see all that tests run."""
    files = [f"{HERE}/test_{name}.py" for name in ("adamw", "rademacher")]
    plugin = ("-p", "tests.reproductions.kernels.sanitized", "-p", "no:cacheprovider")
    done = under_sanitizers("-m", "pytest", "-q", "-x", "-k", "cuda", *plugin, *files)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert " passed" in done.stdout and " skipped" not in done.stdout


@pytest.fixture
def rounding(tmp_path: Path) -> ctypes.CDLL:
    """Return what both.h makes of bfloat16, built for a host as the kernels are."""
    source, library = tmp_path / "rounded.cpp", tmp_path / "rounded.so"
    source.write_text(ROUNDED)
    include = f"-I{Path(built.__file__).parents[1]}"
    command = [tool("g++"), *built.HOST_FLAGS, *built.SHARED, include]
    run([*command, str(source), "-o", str(library)])
    return ctypes.CDLL(str(library))


def by_header(function: Any, given: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    found = torch.zeros(len(given), dtype=dtype)
    at = [ctypes.c_void_p(each.data_ptr()) for each in (found, given)]
    function(*at, ctypes.c_long(len(given)))
    return found


def test_bfloat16_is_rounded_bit_by_bit_as_torch_does(rounding: ctypes.CDLL) -> None:
    """Every upper half of a float32, zeros, denormals, infinities and NaN among them."""
    upper = torch.arange(2**16).view(-1, 1) << 16
    # Nothing, the least, both sides of a tie and the tie itself, the most: of NaN 0x7FFFFFFF.
    lower = torch.tensor([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF])
    numbers = (upper | lower).view(-1).to(torch.int32).view(torch.float32)
    found, wanted = (
        by_header(rounding.narrowed, numbers, torch.bfloat16),
        numbers.to(torch.bfloat16),
    )
    assert torch.equal(found.isnan(), numbers.isnan())
    kept = ~numbers.isnan()
    assert torch.equal(found[kept].view(torch.int16), wanted[kept].view(torch.int16))
    wide = by_header(rounding.widened, wanted, torch.float32)
    assert torch.equal(wide.view(torch.int32), wanted.float().view(torch.int32))
