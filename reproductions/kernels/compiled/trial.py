"""From a build to rows: what is in the cubin."""

from __future__ import annotations

import base64
from pathlib import Path

from harness.declare import Row, RunContext
from harness.errors import RunError
from harness.measure.fresh_process import call_fresh
from reproductions.kernels.compiled import cubin, in_triton
from reproductions.kernels.compiled.builds import CudaBuild, TritonBuild, build_of
from reproductions.kernels.compiled.experiment import Build
from reproductions.kernels.toolchain.tools import version


def compiled_rows(build: Build, ctx: RunContext) -> list[Row]:
    """Compile, and return the row of the one kernel."""
    known = build_of(build.kernel, build.language, build.variant)
    made = _cuda(known, build.arch) if isinstance(known, CudaBuild) else _triton(known, build.arch)
    found, versions = made
    return [{**found, "versions": versions}]


def _triton(build: TritonBuild, arch: str) -> tuple[cubin.Found, str]:
    asked = {"kernel": build.kernel, "variant": build.variant, "arch": arch}
    # By itself: the interpreter, which tests have on, is chosen when kernels are defined.
    made = call_fresh(in_triton.compile_to_cubin, asked, timeout_s=300.0)
    (code,) = cubin.codes(base64.b64decode(made["cubin"]))
    return code, f"triton {made['version']}, cuobjdump {version('cuobjdump')}"


def _cuda(build: CudaBuild, arch: str) -> tuple[cubin.Found, str]:
    source = Path(__file__).parents[1] / build.source
    codes = cubin.codes(cubin.cubin_of_cuda(source, arch))
    matching = [code for code in codes if build.function in str(code["function"])]
    if len(matching) != 1:
        names = ", ".join(str(code["function"]) for code in codes)
        raise RunError(f"{build.source} has no one kernel named {build.function}: it has {names}")
    versions = (f"{name} {version(name)}" for name in ("nvcc", "ptxas", "cuobjdump"))
    return matching[0], ", ".join(versions)
