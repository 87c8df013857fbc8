"""What the claims of the coordinate check measure, each a number from a task's table.

Every function takes the table of one seed, or of several, of which it takes the mean. No torch, no
pandas at import.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence

from harness.declare import Frame, InvalidQuantity, MissingRows, pick
from reproductions.supar.coordinates.table import BLOCKS

FIRST_STEP = {"grad_x_rms": 0, "delta_y_rms": 1}
"""Updates after which a size of a layer is judged: the earliest at which there is one."""


def by_density(
    table: Frame, *, scheme: str, block: str, step: int, value: str = "mean_abs_activation"
) -> dict[float, float]:
    """Return a measured size by density, ascending: the mean over seeds.

    Raises MissingRows where there is none, InvalidQuantity where one is not a positive number.
    """
    rows = pick(table, scheme=scheme, block=block, step=step)
    for density, size in zip(rows["density"], rows[value], strict=True):
        if not (math.isfinite(size) and size > 0.0):
            raise InvalidQuantity(f"{scheme}, {block}, density {density:g}: {value} is {size:g}")
    sizes = rows.groupby("density")[value].mean()
    if len(sizes) < 2:
        raise MissingRows(f"{scheme}, {block}, step {step}: fewer than two densities")
    return dict(zip(sizes.index.astype(float), sizes.astype(float), strict=True))


def log_slope(sizes: Mapping[float, float]) -> float:
    """Return the least-squares slope of log2 size against log2 of what it is keyed by.

    Raises InvalidQuantity for fewer than two sizes, and for one that is not positive and finite.

    >>> log_slope({64: 1.0, 128: 2.0, 256: 4.0})
    1.0
    """
    if len(sizes) < 2:
        raise InvalidQuantity(f"{len(sizes)} size(s): a slope needs at least two")
    for place, size in sizes.items():
        if not (math.isfinite(size) and size > 0.0):
            raise InvalidQuantity(f"the size at {place:g} is {size:g}: it has no logarithm")
    places = [math.log2(place) for place in sizes]
    return statistics.linear_regression(places, [math.log2(s) for s in sizes.values()]).slope


def activation_slope(table: Frame, *, scheme: str, block: str, step: int) -> float:
    """Return the fitted slope of log2 mean absolute activation against log2 density."""
    return log_slope(by_density(table, scheme=scheme, block=block, step=step))


def slopes(table: Frame, *, schemes: Sequence[str], step: int) -> list[float]:
    """Return `activation_slope` of each scheme's blocks, in their order."""
    return [
        activation_slope(table, scheme=scheme, block=block, step=step)
        for scheme in schemes
        for block in BLOCKS
    ]


def slope_sizes(table: Frame, *, schemes: Sequence[str], step: int) -> list[float]:
    """Return `slopes` without their signs."""
    return [abs(slope) for slope in slopes(table, schemes=schemes, step=step)]


def sparse_to_dense(
    table: Frame, *, schemes: Sequence[str], step: int, density: float
) -> list[float]:
    """Return mean absolute activations at `density` and dense, a pair per scheme and block."""
    found = []
    for scheme, block in itertools.product(schemes, BLOCKS):
        sizes = by_density(table, scheme=scheme, block=block, step=step)
        if not {density, 1.0} <= set(sizes):
            raise MissingRows(f"{scheme}, {block}: densities {density:g} and 1 are not both there")
        found += [sizes[density], sizes[1.0]]
    return found


def last_to_first(
    table: Frame, *, schemes: Sequence[str], step: int, density: float
) -> list[float]:
    """Return activations after `step` updates and before training, a pair per scheme and block."""
    found = []
    for scheme, block in itertools.product(schemes, BLOCKS):
        for at in (step, 0):
            found.append(by_density(table, scheme=scheme, block=block, step=at)[density])
    return found


def each_to_each(table: Frame, *, scheme: str, step: int, value: str) -> list[float]:
    """Return a size at each two densities, block by block, one pair after the other."""
    found: list[float] = []
    for block in BLOCKS:
        sizes = by_density(table, scheme=scheme, block=block, step=step, value=value).values()
        found += itertools.chain.from_iterable(itertools.combinations(sizes, 2))
    return found
