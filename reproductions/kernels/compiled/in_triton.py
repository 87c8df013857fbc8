"""Ahead-of-time compilation by Triton, in a process where its interpreter is off."""

from __future__ import annotations

import base64
import os

import torch
from torch import Tensor

from reproductions.kernels.compiled.builds import TritonBuild, build_of
from reproductions.kernels.compiled.launches import launch_of

WARP = 32
ALIGNMENT = 16
"""What Triton is told of addresses and numbers that are multiples of it."""


def compile_to_cubin(*, kernel: str, variant: str, arch: str) -> dict[str, str]:
    """Compile a build as `compiled` does, named as another process is told it."""
    build = build_of(kernel, "triton", variant)
    assert isinstance(build, TritonBuild)
    return compiled(build, arch)


def compiled(build: TritonBuild, arch: str) -> dict[str, str]:
    """Compile for an architecture such as sm_90, where no kernel was imported yet.

    Return the cubin in base 64, Triton's own code and its version.
    """
    os.environ.pop("TRITON_INTERPRET", None)
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    function, arguments, options = launch_of(build)
    types: dict[str, str] = {}
    constants: dict[tuple[int], object] = {}
    hints: dict[tuple[int], list[list[object]]] = {}
    for place, parameter in enumerate(function.params):
        value = arguments[parameter.name]
        # As a launch has it: one, and what is not there, are known when it compiles.
        known = value is None or (isinstance(value, int) and value == 1)
        if parameter.is_constexpr or known:
            types[parameter.name] = "constexpr"
            constants[place,] = value
            continue
        types[parameter.name] = type_of(value)
        number = value.data_ptr() if isinstance(value, Tensor) else value
        if isinstance(number, int) and number % ALIGNMENT == 0:
            hints[place,] = [["tt.divisibility", ALIGNMENT]]
    source = ASTSource(fn=function, signature=types, constexprs=constants, attrs=hints)
    target = GPUTarget("cuda", int(arch.removeprefix("sm_")), WARP)
    made = triton.compile(source, target=target, options=options)
    return {
        "cubin": base64.b64encode(made.asm["cubin"]).decode(),
        "ttir": made.asm["ttir"],
        "version": triton.__version__,
    }


POINTED = {
    torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16", torch.int8: "i8",
    torch.int32: "i32", torch.int64: "i64",
}  # fmt: skip


def type_of(value: Tensor | float) -> str:
    """Return a value's type as Triton writes it."""
    if isinstance(value, Tensor):
        return f"*{POINTED[value.dtype]}"
    if isinstance(value, float):
        return "fp32"
    if -(2**31) <= value < 2**31:
        return "i32"
    return "i64" if value < 2**63 else "u64"
