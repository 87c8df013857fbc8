"""Sizes at which kernels go wrong: none, one, odd ones, and one beyond a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reproductions.kernels.cases import Case

MANY = 1_000_003
"""A prime, of more blocks than a card runs at once: a CPU, which has none, leaves it out."""


def _cases(
    kernel: str, names: str, *sizes: Sequence[int], calls: Sequence[str] = ("",)
) -> tuple[Case, ...]:
    words = names.split()
    return tuple(
        Case(
            kernel,
            " x ".join(map(str, size)) + (f", {call}" if call else ""),
            dict(zip(words, size, strict=True)),
            (),
            call,
        )
        for call in calls
        for size in sizes
    )


def _with_directions(kernel: str, *, calls: Sequence[str] = ("",)) -> tuple[Case, ...]:
    """Return vectors with one direction and with three."""
    both = [(*vector, count) for vector in VECTORS for count in (1, 3)]
    return _cases(kernel, "entries directions", *both, calls=calls)


VECTORS = ((0,), (1,), (129,), (4096,), (4097,), (MANY,))
TENSORS = ((2, 0), (1, 1), (3, 5), (3, 2049), (2, 4096), (2, MANY))
ODD: Mapping[str, tuple[Case, ...]] = {
    "masked_adamw": _cases("masked_adamw", "num_tensors entries", *TENSORS),
    "rademacher": _with_directions("rademacher", calls=("sum", "along", "both")),
    "tangent_step": _with_directions("tangent_step"),
    "sign_ops": _cases("sign_ops", "entries", *VECTORS),
    "layer_adamw": _cases("layer_adamw", "num_tensors entries", *TENSORS),
    "linear_cross_entropy": _cases(
        "linear_cross_entropy", "rows inputs classes",
        (0, 4, 5), (1, 1, 2), (5, 7, 3), (40, 16, 60), (70, 33, 4097), (5, 33, 8193),
        (1025, 24, 129),
    ),
    "shard_pack": (
        *_cases("shard_pack", "blocks entries", (4, 0), (4, 1), (8, 5), (8, 2049), (12, 4096),
                calls=("rearrange",)),
        *_cases("shard_pack", "blocks entries", *TENSORS, calls=("step",)),
    ),
}  # fmt: skip
"""By kernel."""
BEYOND_A_BLOCK = {
    "masked_adamw": ("3 x 2049",),
    "rademacher": ("4097 x 3, sum", "4097 x 3, along", "4097 x 3, both"),
    "tangent_step": ("4097 x 3",),
    "sign_ops": ("4097",),
    "layer_adamw": ("3 x 2049",),
    "linear_cross_entropy": ("70 x 33 x 4097",),
    "shard_pack": ("8 x 2049, rearrange", "3 x 2049, step"),
}
"""Per kernel its cases that are one entry or class more than whole blocks of it."""
ENTRYWISE = ("masked_adamw", "layer_adamw", "tangent_step", "sign_ops", "shard_pack")
"""Kernels in which what is no number stays where it is, so that the others can be compared."""


def cases_of(kernel: str, device: str, backend: str) -> tuple[Case, ...]:
    """Return the odd cases of a kernel that a device is given.

    Triton's interpreter on a CPU, which takes half a minute for a thousand rows, has none and just
    beyond a block.
    """
    cases = ODD[kernel]
    if device == "cuda":
        return cases
    if backend == "triton":
        names = (cases[0].name, *BEYOND_A_BLOCK[kernel])
        return tuple(case for case in cases if case.name in names)
    return tuple(case for case in cases if MANY not in case.sizes.values())
