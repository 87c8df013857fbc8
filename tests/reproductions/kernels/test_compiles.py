"""Every kernel compiles ahead of time, in each type that it is given anywhere.

By whatever Triton is there: this file runs in an environment that has torch, Triton and pytest.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch

from harness.measure.fresh_process import call_fresh
from reproductions.kernels.compiled.builds import (
    ADAMW,
    MOVED,
    SIGNS,
    SLOPE,
    TRITON,
    TritonBuild,
)
from reproductions.kernels.compiled.experiment import ARCHS
from reproductions.kernels.compiled.in_triton import compiled

WITHIN_A_ROW = SLOPE
"""64 bits lead to a row, and 32 along it."""
OF_SMALL_NUMBERS = (ADAMW, SIGNS)
"""Products in 32 bits are of rows of a table and of Philox's words."""
HALVES = (
    TritonBuild("masked_adamw", "float16", ADAMW, ("float16", "float16")),
    TritonBuild("layer_adamw", "float16", ADAMW, ("float16", "float16")),
    TritonBuild("shard_pack", "sharded Adam, float16", ADAMW, ("float32", "float16")),
    TritonBuild("shard_pack", "from float16", MOVED, ("float16", "float32")),
    TritonBuild("shard_pack", "to float16", MOVED, ("float32", "float16")),
    TritonBuild("linear_cross_entropy", "float16", SLOPE, ("float16",)),
    *(
        replace(build, types=(half,))
        for build in TRITON
        if build.kernel == "sign_ops"
        for half in ("float16", "bfloat16")
    ),
)
"""What static rows leave out."""


def codes_of_all(*, arch: str) -> dict[str, str]:
    """Compile all; return Triton's own code by what was compiled."""
    builds = (*TRITON, *HALVES)
    return {f"{build.function}: {build}": compiled(build, arch)["ttir"] for build in builds}


@pytest.mark.kernels
@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
def test_all_compile_and_count_entries_in_64_bits(arch: str) -> None:
    """A tensor of more than 2**31 entries would be written elsewhere, and no small one shows it."""
    codes = call_fresh(codes_of_all, {"arch": arch})
    assert len(codes) == len(TRITON) + len(HALVES)
    for name, code in codes.items():
        offsets = re.findall(r"tt\.addptr .*: (.*), (?:tensor<[\dx]*x)?(i\d+)>?", code)
        assert "i64" in {bits for _, bits in offsets}, name
        if not name.startswith(WITHIN_A_ROW):
            assert {bits for pointer, bits in offsets if "tensor" in pointer} == {"i64"}, name
        if not name.startswith(OF_SMALL_NUMBERS):
            products = re.findall(r"arith\.muli (%\w+), (%\S+) : .*i32", code)
            assert [pair for pair in products if not pair[1].startswith("%c")] == [], name


def compiled_ahead(*, kernel: str, broken: str = "") -> dict[str, int]:
    """Compile what odd calls of a kernel launch, for a GPU that is not there; count what is made.

    broken: a kernel before it of which nothing can be compiled. One that was launched would fail:
    there is no driver.
    """
    os.environ.pop("TRITON_INTERPRET", None)
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.runtime import JITFunction, driver

    from reproductions.kernels.backend import implementation
    from reproductions.kernels.on_device.calls import odd_calls
    from reproductions.kernels.on_device.sizes import cases_of
    from reproductions.kernels.on_device.trial import compile_ahead
    from reproductions.kernels.speed.contest import Setting

    driver.set_active(
        SimpleNamespace(
            get_current_target=lambda: GPUTarget("cuda", 90, 32),
            get_current_device=lambda: 0,
            get_current_stream=lambda device: 0,
        )
    )
    setting, generator = Setting(torch.float32, torch.device("cpu")), torch.Generator()

    def compile_all(name: str) -> None:
        cases = cases_of(name, "cpu", "plain")
        compile_ahead(odd_calls(cases, "triton", setting, generator))

    if broken:
        with patch.object(ASTSource, "make_ir", side_effect=RuntimeError("no such instruction")):
            compile_all(broken)
    compile_all(kernel)
    return {
        name: len(each.device_caches[0][0])
        for name, each in vars(implementation(kernel, "triton")).items()
        if isinstance(each, JITFunction) and not name.startswith("_")
    }


@pytest.mark.kernels
@pytest.mark.parametrize("broken", ["", "shard_pack"])
def test_what_odd_calls_launch_is_compiled_ahead_once_each(broken: str) -> None:
    """One entry, other numbers, and multiples of 16; at aligned addresses and at others."""
    made = call_fresh(compiled_ahead, {"kernel": "sign_ops", "broken": broken})
    assert made == {"fedsign_block": 6}
