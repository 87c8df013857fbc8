"""Ahead-of-time compilation by Triton, in a process where its interpreter is off."""

from __future__ import annotations

import base64
import os
from importlib import import_module
from types import ModuleType

from reproductions.kernels.compiled.builds import POINTERS, TRITON, TritonBuild, build_of

WARP = 32


def compile_to_cubin(*, kernel: str, variant: str, arch: str) -> dict[str, str]:
    """Compile a build of TRITON as `compiled` does, named as another process is told it."""
    return compiled(build_of(TRITON, kernel, variant), arch)


def compiled(build: TritonBuild, arch: str) -> dict[str, str]:
    """Compile for an architecture such as sm_90, where no kernel was imported yet.

    Return the cubin in base 64, Triton's own code and its version.
    """
    os.environ.pop("TRITON_INTERPRET", None)
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    module, name = place_of(build)
    function = getattr(module, name)
    types = types_of(build)
    names = list(function.arg_names)
    constants = {
        name: getattr(tl, TYPES[value]) if value in TYPES else value
        for name, value in constants_of(build).items()
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
    made = triton.compile(source, target=target, options=options_of(build))
    return {
        "cubin": base64.b64encode(made.asm["cubin"]).decode(),
        "ttir": made.asm["ttir"],
        "version": triton.__version__,
    }


TYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def place_of(build: TritonBuild) -> tuple[ModuleType, str]:
    """Return the module of a build's function, and its name there."""
    module, _, name = build.function.partition(":")
    return import_module(f"reproductions.kernels.{module}"), name


def types_of(build: TritonBuild) -> dict[str, str]:
    """Return the types of all arguments that are no constants."""
    return dict(part.split(":") for part in build.types.split())


def constants_of(build: TritonBuild) -> dict[str, int | bool | str]:
    """Return all constants of a build, those of its module among them."""
    module, _ = place_of(build)
    return {**build.constants, **{name: getattr(module, name) for name in build.own}}


def options_of(build: TritonBuild) -> dict[str, int]:
    """Return what Triton is told beside arguments."""
    module, _ = place_of(build)
    return {"num_warps": module.NUM_WARPS}
