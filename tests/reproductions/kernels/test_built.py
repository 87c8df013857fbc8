"""CUDA sources become a library that loads, and that stays within its tensors."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reproductions.kernels import built
from reproductions.kernels.toolchain import run, tool
from tests.checkout import ROOT
from tests.reproductions.kernels.sanitized import FLAGS

HERE = "tests/reproductions/kernels"
RUNTIMES = ("libasan.so", "libubsan.so")
BEYOND = """
extern "C" float at(const float* numbers, long place) { return numbers[place]; }
"""
READ = """
import ctypes, sys
numbers = (ctypes.c_float * 4096)()
ctypes.CDLL(sys.argv[1]).at(numbers, int(sys.argv[2]))
"""
LAUNCHERS = {"adamw": "step_float32", "rademacher": "launch_combine"}


@pytest.mark.kernels
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("kernel", sorted(LAUNCHERS))
def test_a_library_for_a_gpu_links_and_loads(tmp_path: Path, kernel: str, arch: str) -> None:
    source = Path(built.__file__).parent / kernel / "cuda" / f"{kernel}.cu"
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
    files = [f"{HERE}/test_{name}.py" for name in ("adamw", "optimizer", "rademacher")]
    plugin = ("-p", "tests.reproductions.kernels.sanitized", "-p", "no:cacheprovider")
    done = under_sanitizers("-m", "pytest", "-q", "-x", "-k", "cuda", *plugin, *files)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert " passed" in done.stdout and " skipped" not in done.stdout


@pytest.mark.parametrize("place", [4095, 4096])
def test_sanitizers_see_one_number_beyond_the_end(tmp_path: Path, place: int) -> None:
    source, library = tmp_path / "beyond.cpp", tmp_path / "beyond.so"
    source.write_text(BEYOND)
    run([tool("g++"), *built.HOST_FLAGS, *FLAGS, *built.SHARED, str(source), "-o", str(library)])
    done = under_sanitizers("-c", READ, str(library), str(place))
    assert ("heap-buffer-overflow" in done.stderr) == bool(done.returncode) == (place == 4096)
