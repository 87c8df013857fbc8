"""What is compiled ahead of time: every kernel, for the types that its method gives it.

How each is launched, `launches` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from harness.errors import SpecError

Language = Literal["triton", "cuda"]
Type = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class TritonBuild:
    """A kernel of Triton as a method launches it."""

    language: ClassVar[Language] = "triton"
    kernel: str
    """The task's word."""
    variant: str
    function: str
    """`module:name` below `reproductions.kernels`."""
    types: tuple[Type, ...] = ("float32",)
    """Of weights or what else a method gives; then that of gradients, or of what it asks for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CudaBuild:
    """A kernel of a .cu file."""

    language: ClassVar[Language] = "cuda"
    kernel: str
    variant: str
    source: str
    """Below `reproductions/kernels`."""
    function: str
    """What its name in the cubin has in it."""


ADAMW = "adamw.in_triton:step_chunk"
MOVED = "shard_pack.in_triton:move_block"
SIGNS = "rademacher.in_triton:pass_over"
SLOPE = "linear_cross_entropy.in_triton:row_slope"
TRITON: tuple[TritonBuild, ...] = (
    TritonBuild("masked_adamw", "float32", ADAMW, ("float32", "float32")),
    TritonBuild("masked_adamw", "bfloat16", ADAMW, ("bfloat16", "bfloat16")),
    TritonBuild("layer_adamw", "float32", ADAMW, ("float32", "float32")),
    TritonBuild("layer_adamw", "bfloat16", ADAMW, ("bfloat16", "bfloat16")),
    TritonBuild("shard_pack", "sharded Adam", ADAMW, ("float32", "bfloat16")),
    TritonBuild("shard_pack", "to float32", MOVED, ("bfloat16", "float32")),
    TritonBuild("shard_pack", "to bfloat16", MOVED, ("float32", "bfloat16")),
    TritonBuild("rademacher", "sum of directions", SIGNS),
    TritonBuild("rademacher", "along directions", SIGNS),
    TritonBuild("rademacher", "both", SIGNS),
    TritonBuild("tangent_step", "SGD", "tangent_step.in_triton:step_sgd"),
    TritonBuild("tangent_step", "Adam", "tangent_step.in_triton:step_adam"),
    TritonBuild("sign_ops", "fedsign", "sign_ops.in_triton:fedsign_block"),
    TritonBuild("linear_cross_entropy", "bfloat16", SLOPE, ("bfloat16",)),
    TritonBuild("linear_cross_entropy", "float32", SLOPE),
)
CUDA: tuple[CudaBuild, ...] = (
    CudaBuild(kernel="masked_adamw", variant="float32", source="adamw/cuda/adamw.cu",
              function="step_kernelIff"),
    CudaBuild(kernel="masked_adamw", variant="bfloat16", source="adamw/cuda/adamw.cu",
              function="step_kernelI8BFloat16"),
    CudaBuild(kernel="rademacher", variant="sum of directions",
              source="rademacher/cuda/rademacher.cu", function="combine_kernel"),
    CudaBuild(kernel="rademacher", variant="along directions",
              source="rademacher/cuda/rademacher.cu", function="project_kernel"),
    CudaBuild(kernel="shard_pack", variant="sharded Adam", source="adamw/cuda/adamw.cu",
              function="step_kernelIf8BFloat16"),
)  # fmt: skip


def builds_of(kernel: str) -> list[TritonBuild | CudaBuild]:
    """Return all builds of a kernel, by its task."""
    builds: tuple[TritonBuild | CudaBuild, ...] = (*TRITON, *CUDA)
    return [build for build in builds if build.kernel == kernel]


def build_of(kernel: str, language: Language, variant: str) -> TritonBuild | CudaBuild:
    """Return a build. Raises SpecError for one that is none."""
    for build in builds_of(kernel):
        if (build.language, build.variant) == (language, variant):
            return build
    raise SpecError(
        f"kernel {kernel!r}, variant {variant!r} in {language}: it is none of compiled/builds.py"
    )
