"""CUDA sources as a shared library: by nvcc for the GPU at hand, by g++ for a CPU.

Both take the same arithmetic from the same headers; launchers have a C interface, so that neither
needs a header of torch.
"""

from __future__ import annotations

import ctypes
import tempfile
from functools import cache
from pathlib import Path

import torch

from harness.errors import RunError
from reproductions.kernels.toolchain.tools import run, tool

SHARED = ("-std=c++17", "-O3", "-shared")
HOST = "host"
HOST_FLAGS = ("-fPIC", "-ffp-contract=off", "-Wall", "-Werror", "-Wno-unknown-pragmas")
"""No product and sum in one instruction: rounding is then that of plain torch."""


def library(kernel: str, device: torch.device) -> ctypes.CDLL:
    """Build a kernel's CUDA source for a device, once per process and kind of GPU.

    Raises EnvError without a compiler for it.
    """
    if device.type != "cuda":
        return _library(kernel, HOST)
    major, minor = torch.cuda.get_device_capability(device)
    return _library(kernel, f"sm_{major}{minor}")


@cache
def _library(kernel: str, arch: str) -> ctypes.CDLL:
    folder = Path(__file__).parents[1] / kernel / "cuda"
    if arch == HOST:
        command, source = [tool("g++"), *HOST_FLAGS], folder / "on_host.cpp"
    else:
        command, source = nvcc_for(arch), folder / f"{kernel}.cu"
    with tempfile.TemporaryDirectory() as to:
        built = Path(to) / f"{kernel}.so"
        run([*command, *SHARED, str(source), "-o", str(built)])
        return ctypes.CDLL(str(built))


def nvcc_for(arch: str) -> list[str]:
    """Return the start of nvcc's command for a shared library that its own runtime is linked to."""
    nvcc = tool("nvcc")
    # A wheel keeps its libraries in `lib`, where nvcc does not look by itself.
    libraries = Path(nvcc).resolve().parents[1] / "lib"
    return [nvcc, f"-arch={arch}", "-Xcompiler", "-fPIC", f"-L{libraries}"]


def launched(code: int, name: str) -> None:
    """Raise RunError for what a launcher returns, unless it is zero."""
    if code:
        raise RunError(f"CUDA refused to launch {name}: error {code}")


def stream_of(device: torch.device) -> ctypes.c_void_p:
    """Return torch's current stream on a device; none on a CPU."""
    if device.type != "cuda":
        return ctypes.c_void_p(None)
    return ctypes.c_void_p(torch.cuda.current_stream(device).cuda_stream)
