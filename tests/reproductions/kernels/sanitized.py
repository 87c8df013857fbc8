"""A plugin of pytest: CUDA sources are built for a host with sanitizers, which end the process."""

from __future__ import annotations

from reproductions.kernels.toolchain import built

FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def pytest_configure() -> None:
    """Build with sanitizers from here on."""
    built.HOST_FLAGS = (*built.HOST_FLAGS, *FLAGS)
    # In one second: with -O3 it takes g++ twenty.
    built.SHARED = tuple(flag.replace("-O3", "-O1") for flag in built.SHARED)
