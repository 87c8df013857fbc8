"""What compilers make of every kernel: registers, spills, width of loads and stores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc
from harness.declare.experiment import Device
from reproductions.kernels.cases import KERNELS
from reproductions.kernels.compiled.builds import Language, builds_of

Arch = Literal["sm_80", "sm_90"]
ARCHS: tuple[Arch, ...] = ("sm_80", "sm_90")
"""A100 and H100 or H200."""


class Build(Params):
    """A kernel compiled ahead of time; no GPU is asked for."""

    kernel: str = doc("Kernel, by its task.")
    variant: str = doc("Types and options that it is compiled for.")
    language: Language = doc("Triton, or CUDA C++ by nvcc.")
    arch: Arch = doc("Architecture: sm_80 is an A100's, sm_90 an H100's and an H200's.")
    tools: Literal["pinned", "at hand"] = doc(
        "Compilers of constraints.txt, or those of the machine whose GPU times are of.",
        default="pinned",
    )


def grid(profile: Profile, *, kernel: str) -> Iterator[Build]:
    """Yield every build for every architecture, once more by the tools of a machine with a GPU."""
    if profile not in ("cpu", "gpu"):
        return
    for arch in ARCHS:
        for build in builds_of(kernel):
            yield Build(
                kernel=kernel, variant=build.variant, language=build.language, arch=arch,
                tools="pinned" if profile == "cpu" else "at hand",
            )  # fmt: skip


def needs(build: Build) -> Needs:
    """Return what compiles it and reads the result."""
    compiler = ("triton",) if build.language == "triton" else ()
    # Beside times of a GPU only: elsewhere the pinned ones are.
    device: Device = "cpu" if build.tools == "pinned" else "cuda"
    return Needs(packages=("cuda.pathfinder", *compiler), memory_bytes=2**30, device=device)


VERSIONS = {
    "rademacher": 2, "tangent_step": 2, "sign_ops": 2, "linear_cross_entropy": 2, "shard_pack": 2,
}  # fmt: skip
"""Of kernels that compilers have made otherwise since their first rows."""
BUILDS = {
    kernel: Experiment(
        f"kernels/static_{kernel}",
        version=VERSIONS.get(kernel, 1),
        params=Build,
        grid=partial(grid, kernel=kernel),
        run="trial:compiled_rows",
        seed_from=(),
        needs=needs,
        estimate=lambda build: Estimate(seconds=6.0, memory_bytes=2**30),
    )
    for kernel in KERNELS
}
"""By kernel."""
