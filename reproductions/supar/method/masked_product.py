"""A masked layer's product on CUDA: by a kernel where its mask leaves whole blocks empty.

Masked layers store zeros, so that torch's dense product is right and, of masks that keep a weight
in every block, does what any product has to. A kernel can be faster only by what it skips.
"""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from reproductions.kernels.backend import choose, chosen, passed_over, why_no_product
from reproductions.kernels.masked_linear.plain import live_blocks

KERNEL = "masked_linear"
MOST_LIVE = 0.25
"""Share of a mask's blocks up to which the kernel is taken: that of the race of `masked_linear` by
blocks, which says on a GPU whether what it skips outweighs how fast torch's products are. None was
run."""


class Masked(Protocol):
    """What a masked layer's product is made of."""

    weight: Tensor
    weight_mask: Tensor
    bias: Any
    has_dense_gradient: bool

    def __hash__(self) -> int: ...


Version = tuple[int, int]
_known: WeakKeyDictionary[Masked, tuple[Version, float]] = WeakKeyDictionary()
"""Per layer, of the mask as it was then: the share of its blocks that keep a weight.

A mask may change and look the same, as by the broadcast of DistributedDataParallel or where another
takes its address. Then the slower product is taken and nothing worse: which blocks are skipped is
asked of the mask each time.
"""


def product_by_kernel(layer: Masked, input: Tensor) -> Tensor | None:
    """Return what a layer, whose masked weights are zero, makes of an input (..., K).

    None where torch's product is to, as everywhere on a CPU; on CUDA that is said. Raises EnvError
    on CUDA without Triton, as `choose` does.
    """
    weight = layer.weight
    if choose(weight.device) == "plain":
        return None
    why = _why_not(layer, input)
    if why:
        passed_over(KERNEL, "torch's dense product", why)
        return None
    kernel = chosen(KERNEL, weight.device)
    found: Tensor = kernel.masked_linear(input.flatten(0, -2), weight, layer.weight_mask)
    found = found.view(*input.shape[:-1], found.shape[-1])
    return found if layer.bias is None else found + layer.bias


def _why_not(layer: Masked, input: Tensor) -> str:
    """Say why the kernel does not do; nothing if it does."""
    if layer.has_dense_gradient:
        return "gradients of masked weights are asked for"
    if input.ndim < 2:
        return "an input of one axis"
    if input.dtype == torch.float32 and torch.get_float32_matmul_precision() != "highest":
        return "torch's products may be less precise than float32, and faster"
    if layer.weight_mask.is_inference():
        return "a mask of inference mode, which no backward pass may read"
    why = why_no_product(input, layer.weight)
    # Last, for no other tensor than those that are left can tell it.
    if not why and _live_share_of(layer) > MOST_LIVE:
        return f"over {MOST_LIVE:.0%} of the blocks of a mask keep a weight"
    return why


def _live_share_of(layer: Masked) -> float:
    """Return what share of a mask's blocks keep a weight."""
    mask = layer.weight_mask
    version = (mask.data_ptr(), mask._version)
    known = _known.get(layer)
    if known is None or known[0] != version:
        # Not at each step, for it waits for the GPU.
        known = _known[layer] = version, float(live_blocks(mask).float().mean())
    return known[1]
