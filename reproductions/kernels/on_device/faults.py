"""Kernels that are wrong on purpose: a checker that finds nothing in them finds nothing."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from reproductions.kernels.device import on

SIZE = 128
NUM_WARPS = 4
"""An entry per thread."""
READ_OF_ANOTHER_WARP = tl.constexpr("""
{
    .reg .b32 place, other;
    .shared .align 4 .b32 cells[128];
    mov.u32 place, %tid.x;
    shl.b32 place, place, 2;
    xor.b32 other, place, 128;
    mov.u32 $0, cells;
    add.u32 place, place, $0;
    add.u32 other, other, $0;
    st.shared.u32 [place], $1;
    ld.shared.u32 $0, [other];
}
""")


@triton.jit
def write_beyond(target, size, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Write one entry more than there are."""
    at = tl.arange(0, BLOCK)
    tl.store(target + at, at, at <= size)


@triton.jit
def read_unawaited(target, asm: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Let each warp read in shared memory what another one writes, with no barrier between."""
    at = tl.arange(0, BLOCK)
    found = tl.inline_asm_elementwise(asm, "=r,r", [at], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(target + at, found)


def commit(checker: str, device: torch.device) -> None:
    """Do what a checker has to find."""
    target = torch.zeros(SIZE, dtype=torch.int32, device=device)
    with on(device):
        if checker == "memcheck":
            write_beyond[(1,)](target, SIZE, BLOCK=2 * SIZE, num_warps=NUM_WARPS)
        else:
            read_unawaited[(1,)](target, READ_OF_ANOTHER_WARP, BLOCK=SIZE, num_warps=NUM_WARPS)
        torch.cuda.synchronize(device)
