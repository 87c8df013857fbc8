"""What is compiled ahead of time: what methods launch, for the types that they give a kernel.

A method is called with tensors of no memory, and the launch that it makes is noted: sizes are
multiples of 16, as addresses are where torch allocates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.kernels.adamw.plain import AdamW, Weight
from reproductions.kernels.backend import implementation
from reproductions.kernels.tangent_step.plain import Adam, Point, Sgd

SIZE = 2**20
MANY = 2**32
"""Entries that 32 bits do not count."""
SEED = 2**64 - 1
NUM_DIRECTIONS = 3
Language = Literal["triton", "cuda"]
FLOAT32, BFLOAT16 = torch.float32, torch.bfloat16
zeros = partial(torch.zeros, device="meta")


@dataclass(frozen=True, kw_only=True, slots=True)
class TritonBuild:
    """A kernel of Triton as a method launches it."""

    language: ClassVar[Language] = "triton"
    kernel: str
    """The task's word."""
    variant: str
    function: str
    """`module:name` below `reproductions.kernels`."""
    call: Callable[[], object]
    """Launches it, among others."""
    number: int = 0
    """Which of the function's launches in that call it is."""


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


def adamw(
    kernel: str, variant: str, value: torch.dtype, grad: torch.dtype, *,
    masked: bool = False, sent: torch.dtype | None = None,
) -> TritonBuild:  # fmt: skip
    """Return AdamW for types of values, gradients and copies that are sent."""

    def call() -> None:
        weight = Weight(
            value=zeros(SIZE, dtype=value), grad=zeros(SIZE, dtype=grad), lr=0.1,
            mean=zeros(SIZE), square=zeros(SIZE),
            mask=zeros(SIZE, dtype=torch.bool) if masked else None,
            copy=zeros(SIZE, dtype=sent) if sent else None,
        )  # fmt: skip
        implementation("adamw", "triton").step_([weight], AdamW(), 1)

    return TritonBuild(
        kernel=kernel, variant=variant, function="adamw.in_triton:step_chunk", call=call
    )


def cross_entropy(variant: str, dtype: torch.dtype) -> TritonBuild:
    """Return the slope of rows of logits."""

    def call() -> Tensor:
        x, weight = zeros(16, 16, dtype=dtype), zeros(64, 16, dtype=dtype)
        ops = implementation("linear_cross_entropy", "triton")
        loss: Tensor = ops.linear_cross_entropy(x, weight, zeros(16, dtype=torch.int64))
        return loss

    return TritonBuild(
        kernel="linear_cross_entropy", variant=variant, call=call,
        function="linear_cross_entropy.in_triton:row_slope",
    )  # fmt: skip


PRODUCTS = ("forward", "gradient of inputs", "gradient of weights")
"""In the order in which a layer launches them."""


def product(which: str, variant: str, dtype: torch.dtype) -> TritonBuild:
    """Return one of a layer's products; the gradient comes as it lies behind a layer."""

    def call() -> None:
        x, weight = zeros(32, 128, dtype=dtype), zeros(192, 128, dtype=dtype)
        ops = implementation("masked_linear", "triton")
        y = ops.masked_linear(x.requires_grad_(), weight.requires_grad_(), weight.bool())
        y.backward(zeros(32, 192, dtype=dtype))

    return TritonBuild(
        kernel="masked_linear", variant=f"{which}, {variant}", call=call,
        function="masked_linear.in_triton:product", number=PRODUCTS.index(which),
    )  # fmt: skip


def signs(name: str, variant: str, dtype: torch.dtype) -> TritonBuild:
    """Return a kernel of sign_ops."""

    def call() -> None:
        ops, given = implementation("sign_ops", "triton"), zeros(SIZE, dtype=dtype)
        match name:
            case "perturb":
                ops.perturb(given, given, 0.1)
            case "count":
                ops.count_same_signs(given, given)
            case "fedsign":
                ops.add_fedsign_(given, given, given, gamma=0.1)

    return TritonBuild(
        kernel="sign_ops", variant=variant, function=f"sign_ops.in_triton:{name}_block", call=call
    )


def rademacher(variant: str) -> TritonBuild:
    """Return a pass over directions that are made on the way."""

    def call() -> None:
        ops = implementation("rademacher", "triton")
        weights, x, numbers = zeros(NUM_DIRECTIONS), zeros(MANY), range(NUM_DIRECTIONS)
        match variant:
            case "sum of directions":
                ops.combine(weights, SEED, numbers, MANY)
            case "along directions":
                ops.project(x, SEED, numbers)
            case "both":
                ops.combine_and_project(weights, x, SEED, numbers)

    return TritonBuild(
        kernel="rademacher", variant=variant, function="rademacher.in_triton:pass_over", call=call
    )


def packed(variant: str, of: torch.dtype, to: torch.dtype) -> TritonBuild:
    """Return blocks put in order."""
    return TritonBuild(
        kernel="shard_pack", variant=variant, function="shard_pack.in_triton:move_block",
        call=lambda: implementation("shard_pack", "triton").rearrange(
            zeros(SIZE, dtype=of), 2, 2, to
        ),
    )  # fmt: skip


def tangents(variant: str, name: str, rule: Sgd | Adam) -> TritonBuild:
    """Return an inner step with its tangents."""

    def call() -> None:
        def point(*shape: int) -> Point:
            second = None if isinstance(rule, Sgd) else zeros(*shape)
            return Point(value=zeros(*shape), first=zeros(*shape), second=second)

        many = (NUM_DIRECTIONS, SIZE)
        implementation("tangent_step", "triton").step(
            rule, point(SIZE), zeros(SIZE), point(*many), zeros(*many), zeros(NUM_DIRECTIONS)
        )

    return TritonBuild(
        kernel="tangent_step", variant=variant, function=f"tangent_step.in_triton:{name}", call=call
    )


TRITON: tuple[TritonBuild, ...] = (
    adamw("masked_adamw", "float32", FLOAT32, FLOAT32, masked=True),
    adamw("masked_adamw", "bfloat16", BFLOAT16, BFLOAT16, masked=True),
    adamw("layer_adamw", "float32", FLOAT32, FLOAT32),
    adamw("layer_adamw", "bfloat16", BFLOAT16, BFLOAT16),
    adamw("shard_pack", "sharded Adam", FLOAT32, BFLOAT16, sent=BFLOAT16),
    packed("to float32", BFLOAT16, FLOAT32),
    packed("to bfloat16", FLOAT32, BFLOAT16),
    rademacher("sum of directions"),
    rademacher("along directions"),
    rademacher("both"),
    tangents("SGD", "step_sgd", Sgd(0.1, momentum=0.9)),
    tangents("Adam", "step_adam", Adam(0.1)),
    signs("perturb", "perturb", FLOAT32),
    signs("count", "count", FLOAT32),
    signs("fedsign", "fedsign", FLOAT32),
    *(
        product(which, variant, dtype)
        for which in PRODUCTS
        for variant, dtype in (("bfloat16", BFLOAT16), ("float32", FLOAT32))
    ),
    cross_entropy("bfloat16", BFLOAT16),
    cross_entropy("float32", FLOAT32),
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
