"""Every kernel compiles ahead of time, in each type that it is given anywhere.

By whatever Triton is there: this file runs in an environment that has torch, Triton and pytest.
"""

from __future__ import annotations

import re

import pytest
import torch

from harness.measure.fresh_process import call_fresh
from reproductions.kernels.compiled import builds
from reproductions.kernels.compiled.experiment import ARCHS
from reproductions.kernels.compiled.in_triton import compiled

WITHIN_A_ROW = ("linear_cross_entropy.in_triton:row_slope",)
"""64 bits lead to a row, and 32 along it."""
OF_SMALL_NUMBERS = (
    "adamw.in_triton:step_chunk",
    "masked_linear.in_triton:product",
    "rademacher.in_triton:pass_over",
)
"""Products in 32 bits are of rows of a table, of numbers of blocks and of Philox's words."""


FLOAT16, FLOAT32, BFLOAT16 = torch.float16, torch.float32, torch.bfloat16
HALVES = (
    builds.adamw("masked_adamw", "float16", FLOAT16, FLOAT16, masked=True),
    builds.adamw("layer_adamw", "float16", FLOAT16, FLOAT16),
    builds.adamw("shard_pack", "sharded Adam, float16", FLOAT32, FLOAT16, sent=FLOAT16),
    builds.packed("from float16", FLOAT16, FLOAT32),
    builds.packed("to float16", FLOAT32, FLOAT16),
    builds.cross_entropy("float16", FLOAT16),
    *(builds.product(which, "float16", FLOAT16) for which in builds.PRODUCTS),
    *(
        builds.signs(name, f"{name}, {dtype}", dtype)
        for name in ("perturb", "count", "fedsign")
        for dtype in (FLOAT16, BFLOAT16)
    ),
)
"""What static rows leave out."""


def codes_of_all(*, arch: str) -> dict[str, str]:
    """Compile all; return Triton's own code by what was compiled."""
    return {
        f"{build.function}, {build.kernel}, {build.variant}": compiled(build, arch)["ttir"]
        for build in (*builds.TRITON, *HALVES)
    }


@pytest.mark.kernels
@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
def test_all_compile_and_count_entries_in_64_bits(arch: str) -> None:
    """A tensor of more than 2**31 entries would be written elsewhere, and no small one shows it."""
    codes = call_fresh(codes_of_all, {"arch": arch})
    assert len(codes) == len(builds.TRITON) + len(HALVES)
    for name, code in codes.items():
        offsets = re.findall(r"tt\.addptr .*: (.*), (?:tensor<[\dx]*x)?(i\d+)>?", code)
        assert "i64" in {bits for _, bits in offsets}, name
        if not name.startswith(WITHIN_A_ROW):
            assert {bits for pointer, bits in offsets if "tensor" in pointer} == {"i64"}, name
        if not name.startswith(OF_SMALL_NUMBERS):
            products = re.findall(r"arith\.muli (%\w+), (%\S+) : .*i32", code)
            assert [pair for pair in products if not pair[1].startswith("%c")] == [], name
