"""What is compiled ahead of time: every kernel, for the types that its method gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from harness.errors import SpecError

POINTERS = 16
"""Bytes that addresses are multiples of, as torch allocates."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TritonBuild:
    """A kernel of Triton with its types and constants."""

    kernel: str
    """The task's word."""
    variant: str
    function: str
    """`module:name` below `reproductions.kernels`."""
    types: str
    """`name:type` of every argument that is no constant, as Triton writes types."""
    constants: Mapping[str, int | bool | str] = field(default_factory=dict)
    """Types by their names in Triton."""
    own: tuple[str, ...] = ()
    """Constants that are its module's, by the same name: what it is launched with, as its module's
    NUM_WARPS is."""
    divisible: tuple[str, ...] = ()
    """Numbers that are multiples of 16."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CudaBuild:
    """A kernel of a .cu file."""

    kernel: str
    variant: str
    source: str
    """Below `reproductions/kernels`."""
    function: str
    """What its name in the cubin has in it."""


ADAMW = (
    "rows:*i64 rates:*fp32 row_of_chunk:*i32 start_of_chunk:*i64 squares:*fp32 new_first:fp32"
    " second:fp32 new_second:fp32 eps:fp32 rise:fp32 spread:fp32"
)


def adamw(
    kernel: str, variant: str, value: str, grad: str, copy: str = "", *, masked: bool
) -> TritonBuild:
    """Return AdamW for types of values, gradients and copies."""
    return TritonBuild(
        kernel=kernel, variant=variant, function="adamw.in_triton:step_chunk", types=ADAMW,
        constants={
            "VALUE": value, "GRAD": grad, "COPY": copy or value, "ALIGNED": True,
            "MASKED": masked, "COPIED": bool(copy),
        },
        own=("CHUNK",),
    )  # fmt: skip


def cross_entropy(variant: str, logits: str) -> TritonBuild:
    """Return the slope of rows of logits."""
    return TritonBuild(
        kernel="linear_cross_entropy", variant=variant,
        function="linear_cross_entropy.in_triton:row_slope",
        types=f"logits:*{logits} targets:*i64 losses:*fp32 size:i32",
        own=("IGNORED", "BLOCK"), divisible=("size",),
    )  # fmt: skip


STRIDES = ("a_m", "a_k", "b_k", "b_n", "mask_first", "mask_second", "live_k", "live_n")


def product(variant: str, type: str, masks: str, *ones: str) -> TritonBuild:
    """Return a product with a mask on a factor or on the result. ones: strides that are 1."""
    others = [name for name in STRIDES if name not in ones]
    return TritonBuild(
        kernel="masked_linear", variant=variant, function="masked_linear.in_triton:product",
        types=f"a:*{type} b:*{type} mask:*i8 c:*{type} live:*i8 M:i32 N:i32 K:i32 "
        + " ".join(f"{name}:i32" for name in others),
        constants={**dict.fromkeys(ones, 1), "MASKS": masks}, own=("BLOCK", "INNER"),
        divisible=("N", "K", *(name for name in others if not name.startswith("live"))),
    )  # fmt: skip


FORWARD = ("a_k", "b_k", "mask_first", "live_k")
"""Weights and masks lie by outputs, and are read across."""
OF_INPUTS = ("a_k", "b_n", "mask_second", "live_n")
OF_WEIGHTS = ("a_m", "b_n", "mask_second", "live_n")


def signs(name: str, types: str) -> TritonBuild:
    """Return a kernel of sign_ops."""
    return TritonBuild(
        kernel="sign_ops", variant=name, function=f"sign_ops.in_triton:{name}_block", types=types,
        own=("BLOCK",), divisible=("size",),
    )  # fmt: skip


def rademacher(variant: str, *, combine: bool, project: bool) -> TritonBuild:
    """Return a pass over directions that are made on the way."""
    return TritonBuild(
        kernel="rademacher", variant=variant, function="rademacher.in_triton:pass_over",
        types="out_N:*fp32 weights_C:*fp32 x_N:*fp32 partial_CT:*fp32 numbers_C:*i64 seed:u64"
        " num_directions:i32 num_entries:i64",
        constants={"COMBINE": combine, "PROJECT": project}, divisible=("num_entries",),
    )  # fmt: skip


def packed(variant: str, of: str, to: str) -> TritonBuild:
    """Return blocks put in order."""
    return TritonBuild(
        kernel="shard_pack", variant=variant, function="shard_pack.in_triton:move_block",
        types=f"source:*{of} target:*{to} rows:i32 columns:i32 length:i32",
        constants={"FULL": True}, own=("BLOCK",), divisible=("length",),
    )  # fmt: skip


TRITON: tuple[TritonBuild, ...] = (
    adamw("masked_adamw", "float32", "fp32", "fp32", masked=True),
    adamw("masked_adamw", "bfloat16", "bf16", "bf16", masked=True),
    adamw("layer_adamw", "float32", "fp32", "fp32", masked=False),
    adamw("layer_adamw", "bfloat16", "bf16", "bf16", masked=False),
    adamw("shard_pack", "sharded Adam", "fp32", "bf16", "bf16", masked=False),
    packed("to float32", "bf16", "fp32"),
    packed("to bfloat16", "fp32", "bf16"),
    rademacher("sum of directions", combine=True, project=False),
    rademacher("along directions", combine=False, project=True),
    rademacher("both", combine=True, project=True),
    TritonBuild(
        kernel="tangent_step", variant="SGD", function="tangent_step.in_triton:step_sgd",
        types="value:*fp32 first:*fp32 grad:*fp32 d_value:*fp32 d_first:*fp32 d_grad:*fp32"
        " d_lr:*fp32 to_value:*fp32 to_first:*fp32 to_d_value:*fp32 to_d_first:*fp32 lr:fp32"
        " momentum:fp32 size:i32 num_directions:i32",
        own=("BLOCK",), divisible=("size",),
    ),
    TritonBuild(
        kernel="tangent_step", variant="Adam", function="tangent_step.in_triton:step_adam",
        types="value:*fp32 first:*fp32 second:*fp32 grad:*fp32 d_value:*fp32 d_first:*fp32"
        " d_second:*fp32 d_grad:*fp32 d_lr:*fp32 to_value:*fp32 to_first:*fp32 to_second:*fp32"
        " to_d_value:*fp32 to_d_first:*fp32 to_d_second:*fp32 lr:fp32 beta1:fp32 new1:fp32"
        " beta2:fp32 new2:fp32 rise:fp32 spread:fp32 eps_root:fp32 size:i32 num_directions:i32",
        own=("BLOCK",), divisible=("size",),
    ),
    signs("perturb", "theta:*fp32 noise:*fp32 target:*fp32 squares:*fp32 scale:fp32 size:i32"),
    signs("count", "first:*fp32 second:*fp32 counts:*i32 size:i32"),
    signs("fedsign", "grad:*fp32 theta:*fp32 received:*fp32 sums:*fp32 gamma:fp32 beta:fp32"
          " size:i32"),
    product("forward, bfloat16", "bf16", "b", *FORWARD),
    product("forward, float32", "fp32", "b", *FORWARD),
    product("gradient of inputs, bfloat16", "bf16", "b", *OF_INPUTS),
    product("gradient of inputs, float32", "fp32", "b", *OF_INPUTS),
    product("gradient of weights, bfloat16", "bf16", "c", *OF_WEIGHTS),
    product("gradient of weights, float32", "fp32", "c", *OF_WEIGHTS),
    cross_entropy("bfloat16", "bf16"),
    cross_entropy("float32", "fp32"),
)  # fmt: skip
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

Build = TypeVar("Build", TritonBuild, CudaBuild)


def build_of(known: Sequence[Build], kernel: str, variant: str) -> Build:
    """Return a build by its kernel and variant. Raises SpecError for one that is none."""
    for build in known:
        if (build.kernel, build.variant) == (kernel, variant):
            return build
    raise SpecError(f"kernel {kernel!r}, variant {variant!r}: it is none of compiled/builds.py")
