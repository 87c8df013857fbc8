"""Blocks put in order, beside a loop that says which goes where."""

from __future__ import annotations

import math
from types import ModuleType

import pytest
import torch

from harness.errors import SpecError
from reproductions.kernels.precision import ROUNDING

KERNEL = "shard_pack"
LAYOUTS = ((1, 1, 5), (2, 3, 1), (4, 2, 2048), (2, 2, 2049), (8, 4, 31), (2, 2, 0))
"""Rows, columns, entries of a block."""


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_each_block_goes_to_its_place(ops: ModuleType, layout: tuple[int, int, int]) -> None:
    rows, columns, length = layout
    generator = torch.Generator().manual_seed(1)
    source = torch.randn(rows * columns * length, generator=generator)
    found = ops.rearrange(source, rows, columns, torch.bfloat16)
    assert found.dtype == torch.bfloat16 and found.shape == source.shape
    for row in range(rows):
        for column in range(columns):
            here, there = row * columns + column, column * rows + row
            one = source[here * length : (here + 1) * length].double()
            other = found[there * length : (there + 1) * length].double()
            torch.testing.assert_close(other, one, rtol=ROUNDING[torch.bfloat16], atol=0.0)


def test_what_does_not_lie_in_one_piece_is_read_as_it_lies(ops: ModuleType) -> None:
    buffer = torch.arange(2 * 4 * 2 * 33.0)
    alone = buffer[::2].clone()
    found = ops.rearrange(buffer[::2], 4, 2, torch.float32)
    assert torch.equal(found, ops.rearrange(alone, 4, 2, torch.float32))
    assert not torch.equal(found, ops.rearrange(buffer[: len(alone)], 4, 2, torch.float32))


def test_blocks_go_to_a_tensor_that_is_there(ops: ModuleType) -> None:
    source = torch.arange(4 * 2 * 33.0)
    room = torch.full((len(source) + 2,), math.nan, dtype=torch.bfloat16)
    found = ops.rearrange(source, 4, 2, torch.bfloat16, out_N=room[1:-1])
    assert found.data_ptr() == room[1:].data_ptr()
    assert torch.equal(found, ops.rearrange(source, 4, 2, torch.bfloat16))
    assert room[[0, -1]].isnan().all()


def test_what_does_not_fit_is_told(ops: ModuleType) -> None:
    with pytest.raises(SpecError, match="2 x 3 blocks"):
        ops.rearrange(torch.ones(7), 2, 3, torch.float32)
    for out in (torch.ones(7), torch.ones(8, dtype=torch.float64), torch.ones(16)[::2]):
        with pytest.raises(SpecError, match="out_N of shape"):
            ops.rearrange(torch.ones(8), 2, 2, torch.float32, out_N=out)


@pytest.mark.parametrize("to", [torch.float16, torch.float32, torch.bfloat16])
def test_halves_and_what_is_not_finite_go_as_torch_casts_them(
    ops: ModuleType, to: torch.dtype
) -> None:
    source = torch.tensor([math.inf, -math.inf, math.nan, -0.0, 7e4, 1.5])
    for of in (torch.float16, torch.float32):
        found = ops.rearrange(source.to(of), 2, 3, to)
        wanted = source.to(of).view(2, 3).T.reshape(-1).to(to)
        assert torch.equal(found.isnan(), wanted.isnan())
        kept = ~wanted.isnan()
        torch.testing.assert_close(
            found[kept].double(), wanted[kept].double(), rtol=ROUNDING[to], atol=0.0
        )
        assert torch.equal(found[kept].signbit(), wanted[kept].signbit())
