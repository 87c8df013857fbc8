"""From a build to rows: what is in the cubin."""

from __future__ import annotations

import base64
from pathlib import Path

from harness.declare import Row, RunContext
from harness.errors import RunError
from harness.measure.fresh_process import call_fresh
from reproductions.kernels.compiled import cubin, in_triton
from reproductions.kernels.compiled.builds import CUDA, TRITON, build_of
from reproductions.kernels.compiled.experiment import Build
from reproductions.kernels.toolchain.tools import version


def compiled_rows(build: Build, ctx: RunContext) -> list[Row]:
    """Compile, and return the row of the one kernel."""
    found, versions = _triton(build) if build.language == "triton" else _cuda(build)
    return [{**found, "versions": versions}]


def _triton(build: Build) -> tuple[cubin.Found, str]:
    known = build_of(TRITON, build.kernel, build.variant)
    asked = {"kernel": known.kernel, "variant": known.variant, "arch": build.arch}
    # By itself: the interpreter, which tests have on, is chosen when kernels are defined.
    made = call_fresh(in_triton.compile_to_cubin, asked, timeout_s=300.0)
    (code,) = cubin.codes(base64.b64decode(made["cubin"]))
    return code, f"triton {made['version']}, cuobjdump {version('cuobjdump')}"


def _cuda(build: Build) -> tuple[cubin.Found, str]:
    found = build_of(CUDA, build.kernel, build.variant)
    source = Path(__file__).parents[1] / found.source
    codes = cubin.codes(cubin.cubin_of_cuda(source, build.arch))
    matching = [code for code in codes if found.function in str(code["function"])]
    if len(matching) != 1:
        names = ", ".join(str(code["function"]) for code in codes)
        raise RunError(f"{found.source} has no one kernel named {found.function}: it has {names}")
    versions = (f"{name} {version(name)}" for name in ("nvcc", "ptxas", "cuobjdump"))
    return matching[0], ", ".join(versions)
