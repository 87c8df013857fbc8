"""Every kernel compiles ahead of time, in each type that it is given anywhere.

By whatever Triton is there: this file runs in an environment that has torch, Triton and pytest.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

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
