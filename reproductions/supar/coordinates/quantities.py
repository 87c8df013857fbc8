"""What the claims of the coordinate check measure, each a number from a task's table.

Every function takes the table of one seed, or of several, of which it takes the mean. No torch, no
pandas at import.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows, pick
from reproductions.supar.models.slopes import log_slope

if TYPE_CHECKING:
    import pandas as pd

FIRST_STEP = {"grad_x_rms": 0, "delta_y_rms": 1}
"""Updates after which a size of a layer is judged: the earliest at which there is one."""


def by_density(
    table: pd.DataFrame, *, scheme: str, block: str, step: int, value: str
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
    return {float(density): float(size) for density, size in sizes.items()}


def activation_slope(table: pd.DataFrame, *, scheme: str, block: str, step: int) -> float:
    """Return the fitted slope of log2 mean absolute activation against log2 density."""
    return log_slope(
        by_density(table, scheme=scheme, block=block, step=step, value="mean_abs_activation")
    )


def activation_slope_size(table: pd.DataFrame, *, scheme: str, block: str, step: int) -> float:
    """Return the slope without its sign."""
    return abs(activation_slope(table, scheme=scheme, block=block, step=step))


def sparse_to_dense(
    table: pd.DataFrame, *, scheme: str, block: str, step: int, density: float
) -> tuple[float, float]:
    """Return mean absolute activation at `density` and at density 1, for their ratio."""
    sizes = by_density(table, scheme=scheme, block=block, step=step, value="mean_abs_activation")
    if density not in sizes or 1.0 not in sizes:
        raise MissingRows(f"{scheme}, {block}: density {density:g} or 1 was not run")
    return sizes[density], sizes[1.0]


def each_to_each(
    table: pd.DataFrame, *, scheme: str, block: str, step: int, value: str
) -> list[float]:
    """Return the sizes at each two densities, one pair after the other, for their ratios."""
    sizes = by_density(table, scheme=scheme, block=block, step=step, value=value).values()
    return list(itertools.chain.from_iterable(itertools.combinations(sizes, 2)))
