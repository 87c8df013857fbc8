"""A masked layer's product on CUDA: by a kernel where its mask leaves whole blocks empty.

Masked layers store zeros, so that torch's dense product is right and, of masks that keep a weight
in every block, does what any product has to. A kernel can be faster only by what it skips.
"""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakKeyDictionary

from torch import Tensor

from reproductions.kernels.backend import choose, chosen, passed_over, why_no_product
from reproductions.kernels.masked_linear.plain import live_blocks

KERNEL = "masked_linear"
MOST_LIVE = 0.5
"""Share of a mask's blocks up to which the kernel is taken: it then makes at most half of the
products. That this outweighs how fast torch's are is for races on a GPU to say; none was run."""


class Masked(Protocol):
    """What a masked layer's product is made of."""

    weight: Tensor
    weight_mask: Tensor
    bias: Any
    has_dense_gradient: bool

    def __hash__(self) -> int: ...


Version = tuple[int, int]
_known: WeakKeyDictionary[Masked, tuple[Version, Tensor, float]] = WeakKeyDictionary()
"""Per layer, of the mask as it was then: its live blocks, and their share of all."""


def product_by_kernel(layer: Masked, input: Tensor) -> Tensor | None:
    """Return what a layer, whose masked weights are zero, makes of an input (..., K).

    None where torch's product is to, as everywhere on a CPU; on CUDA that is said. Raises EnvError
    on CUDA without Triton, as `choose` does.
    """
    weight = layer.weight
    if choose(weight.device) == "plain":
        return None
    live, share = _live_blocks_of(layer)
    why = _why_not(layer, input, share)
    if why:
        passed_over(KERNEL, "torch's dense product", why)
        return None
    kernel = chosen(KERNEL, weight.device)
    found: Tensor = kernel.masked_linear(input.flatten(0, -2), weight, layer.weight_mask, live)
    found = found.unflatten(0, input.shape[:-1])
    return found if layer.bias is None else found + layer.bias


def _live_blocks_of(layer: Masked) -> tuple[Tensor, float]:
    """Return which blocks of a mask keep a weight, and what share of them."""
    mask = layer.weight_mask
    version = (mask.data_ptr(), mask._version)
    known = _known.get(layer)
    if known is None or known[0] != version:
        live = live_blocks(mask)
        # Once per mask, for it waits for the GPU.
        known = _known[layer] = version, live, float(live.float().mean())
    return known[1:]


def _why_not(layer: Masked, input: Tensor, share: float) -> str:
    """Say why the kernel does not do; nothing if it does."""
    if share > MOST_LIVE:
        return f"over {MOST_LIVE:.0%} of the blocks of a mask keep a weight"
    if layer.has_dense_gradient:
        return "gradients of masked weights are asked for"
    if input.ndim < 2:
        return "an input of one axis"
    return why_no_product(input, layer.weight)
