"""Sizes at which kernels go wrong: one, odd ones, those a bit above a block, none at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reproductions.kernels.cases import Case


def _cases(
    kernel: str, names: str, *sizes: Sequence[int], calls: Sequence[str] = ("",)
) -> tuple[Case, ...]:
    words = names.split()
    return tuple(
        Case(kernel, " x ".join(map(str, size)), dict(zip(words, size, strict=True)), (), call)
        for call in calls
        for size in sizes
    )


# Rows of an odd length lie at addresses that are no multiples of 16 bytes.
TENSORS = ((1, 1), (3, 5), (3, 2049), (2, 2**16), (2, 100_003), (2, 0))
ENTRIES = ((1,), (129,), (4097,), (2**16,), (100_003,))
ODD: Mapping[str, tuple[Case, ...]] = {
    "masked_adamw": _cases("masked_adamw", "num_tensors entries", *TENSORS),
    "layer_adamw": _cases("layer_adamw", "num_tensors entries", *TENSORS),
    "masked_linear": (
        *_cases("masked_linear", "rows inputs outputs",
                (1, 1, 1), (5, 7, 3), (64, 64, 64), (65, 70, 90), (130, 257, 515), (0, 4, 4)),
        *_cases("masked_linear", "rows inputs outputs", (64, 128, 192), (70, 260, 150),
                calls=("blocks", "2 of 4")),
    ),
    "rademacher": _cases(
        "rademacher", "entries directions",
        *((size, count) for (size,) in ENTRIES for count in (1, 3)), calls=("sum", "along"),
    ),
    "tangent_step": _cases(
        "tangent_step", "entries directions", *((size, count) for (size,) in ENTRIES
                                               for count in (1, 3)),
    ),
    "sign_ops": _cases("sign_ops", "entries", *ENTRIES, calls=("perturb", "count", "FedSign")),
    "linear_cross_entropy": _cases(
        "linear_cross_entropy", "rows inputs classes",
        (1, 1, 2), (5, 7, 3), (40, 16, 60), (70, 33, 5003), (1030, 24, 129),
    ),
    "shard_pack": (
        *_cases("shard_pack", "blocks entries", (4, 1), (8, 5), (8, 2049), (12, 4096),
                calls=("rearrange",)),
        *_cases("shard_pack", "blocks entries", *TENSORS, calls=("step",)),
    ),
}  # fmt: skip
"""By kernel."""
ENTRYWISE = ("masked_adamw", "layer_adamw", "tangent_step", "sign_ops", "shard_pack")
"""Kernels in which what is no number stays where it is, so that the others can be compared."""
