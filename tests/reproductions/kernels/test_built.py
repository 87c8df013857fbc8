"""CUDA sources become a library that loads, by the compiler of the wheels too."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from reproductions.kernels import built
from reproductions.kernels.toolchain import run

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
