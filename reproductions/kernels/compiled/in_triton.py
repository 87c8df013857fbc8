"""Ahead-of-time compilation by Triton, in a process where its interpreter is off."""

from __future__ import annotations

import base64
import os
from importlib import import_module

from reproductions.kernels.compiled.builds import POINTERS, TRITON

WARP = 32


def compile_to_cubin(*, number: int, arch: str) -> dict[str, str]:
    """Compile the build of that number; return the cubin in base 64, and Triton's own code."""
    os.environ.pop("TRITON_INTERPRET", None)
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    build = TRITON[number]
    module, _, name = build.function.partition(":")
    function = getattr(import_module(f"reproductions.kernels.{module}"), name)
    types = dict(part.split(":") for part in build.types.split())
    names = list(function.arg_names)
    constants = {
        name: getattr(tl, TYPES[value]) if value in TYPES else value
        for name, value in build.constants.items()
    }
    hints = [["tt.divisibility", POINTERS]]
    source = ASTSource(
        fn=function,
        signature={name: types.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs={
            (names.index(name),): hints
            for name, type in types.items()
            if type.startswith("*") or name in build.divisible
        },
    )
    target = GPUTarget("cuda", int(arch.removeprefix("sm_")), WARP)
    made = triton.compile(source, target=target, options={"num_warps": build.num_warps})
    return {
        "cubin": base64.b64encode(made.asm["cubin"]).decode(),
        "ttir": made.asm["ttir"],
        "version": triton.__version__,
    }


TYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
