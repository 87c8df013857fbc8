"""Floating-point operations of calls: where each lies in a roofline.

They decide nothing: the rate of a call and its ceiling are both multiples of them.
"""

from __future__ import annotations

from collections.abc import Callable

from reproductions.kernels.cases import Case, Precision

STEP = 15
"""AdamW per entry: 3 for the first moment, 4 for the second, 3 for the root, 5 for the weight."""
NORMS = 4
"""A square and a sum each, of gradients and of weights."""
PER_CALL: dict[str, Callable[..., int]] = {
    "masked_adamw": lambda num_tensors, entries: STEP * num_tensors * entries,
    "layer_adamw": lambda num_tensors, entries: (STEP + NORMS) * num_tensors * entries,
    "shard_pack: step": lambda blocks, entries: STEP * blocks * entries,
    "shard_pack: rearrange": lambda blocks, entries: 0,
    # A multiple, and a sum.
    "rademacher: sum": lambda entries, directions: 2 * directions * entries,
    "rademacher: along": lambda entries, directions: 2 * directions * entries,
    "rademacher: both": lambda entries, directions: 4 * directions * entries,
    # 14 of Adam, 4 that all tangents share, and 15 per tangent.
    "tangent_step": lambda entries, directions: (18 + 15 * directions) * entries,
    # |noise|, two multiples and a sum; both norms.
    "sign_ops: perturb": lambda entries: 8 * entries,
    # A product of signs, and a count.
    "sign_ops: count": lambda entries: 2 * entries,
    # 6 for a kept share, 5 for the gradient, 1 for the penalty.
    "sign_ops: FedSign": lambda entries: 12 * entries,
}
"""Of calls without a product, as plain torch writes them; absolute values and signs count too."""


def flops_of(case: Case, precision: Precision) -> int:
    """Return the FLOPs of a call's products or, where it has none, of its arithmetic."""
    name = f"{case.kernel}: {case.call}" if case.call else case.kernel
    return case.work(precision).flops or PER_CALL[name](**case.sizes)
