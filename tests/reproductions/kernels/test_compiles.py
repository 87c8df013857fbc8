"""Every kernel compiles ahead of time, in each type that it is given anywhere.

By whatever Triton is there: this file runs in an environment that has torch, Triton and pytest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.measure.fresh_process import call_fresh
from reproductions.kernels.compiled.builds import TRITON, TritonBuild
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


def in_every_type() -> Iterator[TritonBuild]:
    """Yield what static rows have, and the same for halves that they leave out."""
    for build in TRITON:
        yield build
        if build.kernel == "sign_ops":
            for half in ("bf16", "fp16"):
                # Sums and counts keep their type.
                types = re.sub(r"(?<!squares:)(?<!sums:)\*fp32", f"*{half}", build.types)
                yield replace(build, variant=f"{build.variant}, {half}", types=types)
        elif "bf16" in f"{build.types} {build.constants}":
            types = build.types.replace("bf16", "fp16")
            constants = {k: "fp16" if v == "bf16" else v for k, v in build.constants.items()}
            yield replace(build, variant=f"{build.variant}, fp16", types=types, constants=constants)


def codes_of_all(*, arch: str) -> dict[str, str]:
    """Compile all; return Triton's own code by what was compiled."""
    return {
        f"{build.function}, {build.variant}": compiled(build, arch)["ttir"]
        for build in in_every_type()
    }


@pytest.mark.kernels
@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
def test_all_compile_and_count_entries_in_64_bits(arch: str) -> None:
    """A tensor of more than 2**31 entries would be written elsewhere, and no small one shows it."""
    codes = call_fresh(codes_of_all, {"arch": arch})
    assert len(codes) > len(TRITON)
    for name, code in codes.items():
        offsets = re.findall(r"tt\.addptr .*: (.*), (?:tensor<[\dx]*x)?(i\d+)>?", code)
        assert "i64" in {bits for _, bits in offsets}, name
        if not name.startswith(WITHIN_A_ROW):
            assert {bits for pointer, bits in offsets if "tensor" in pointer} == {"i64"}, name
        if not name.startswith(OF_SMALL_NUMBERS):
            products = re.findall(r"arith\.muli (%\w+), (%\S+) : .*i32", code)
            assert [pair for pair in products if not pair[1].startswith("%c")] == [], name
