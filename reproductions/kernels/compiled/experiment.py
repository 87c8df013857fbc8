"""What compilers make of every kernel: registers, spills, width of loads and stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc
from reproductions.kernels.compiled.builds import CUDA, TRITON

Language = Literal["triton", "cuda"]
Arch = Literal["sm_80", "sm_90"]
ARCHS: tuple[Arch, ...] = ("sm_80", "sm_90")
"""A100 and H100 or H200."""


class Build(Params):
    """A kernel compiled ahead of time; no GPU is asked for."""

    kernel: str = doc("Kernel, by its task.")
    variant: str = doc("Types and options that it is compiled for.")
    language: Language = doc("Triton, or CUDA C++ by nvcc.")
    arch: Arch = doc("Architecture: sm_80 is an A100's, sm_90 an H100's and an H200's.")


def grid(profile: Profile) -> Iterator[Build]:
    """Yield every build for every architecture, at `cpu`."""
    if profile != "cpu":
        return
    for arch in ARCHS:
        for build in TRITON:
            yield Build(kernel=build.kernel, variant=build.variant, language="triton", arch=arch)
        for source in CUDA:
            yield Build(kernel=source.kernel, variant=source.variant, language="cuda", arch=arch)


def needs(build: Build) -> Needs:
    """Return what compiles it and reads the result."""
    compiler = ("triton",) if build.language == "triton" else ()
    return Needs(packages=("cuda.pathfinder", *compiler), memory_bytes=2**30)


builds = Experiment(
    "kernels/compiled",
    version=1,
    params=Build,
    grid=grid,
    run="trial:compiled_rows",
    seed_from=(),
    needs=needs,
    estimate=lambda build: Estimate(seconds=6.0, memory_bytes=2**30),
)
