"""Where the optimum of a swept hyperparameter lies, and what carrying it over costs.

Every function takes the table of one seed, unless it says "whole table". Losses are in nats;
a diverged run has no loss and counts as infinitely bad. Densities of a grid are compared by
value, "lowest" being the smallest in the table. `x` names the column that is swept: log2_lr or
log2_sigma. No torch, no pandas at import.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, MissingRows, pick
from harness.declare.statistics import optimum_log2

if TYPE_CHECKING:
    import pandas as pd

    Quantity = Callable[[pd.DataFrame], float | Sequence[float]]


def loss_curve(
    table: pd.DataFrame, *, scheme: str, density: float, x: str = "log2_lr"
) -> dict[float, float]:
    """Return train loss by the swept value, ascending; a diverged run is infinite.

    Raises MissingRows where the table has no such curve.
    """
    rows = pick(table, scheme=scheme, density=density)
    pairs = zip(rows[x], rows["train_loss"], strict=True)
    return {
        float(swept): float(loss) if loss is not None and math.isfinite(loss) else math.inf
        for swept, loss in sorted(pairs, key=lambda pair: pair[0])
    }


def optimum(table: pd.DataFrame, *, scheme: str, density: float, x: str = "log2_lr") -> float:
    """Return where the train loss is least, as log2, between grid points.

    Raises InvalidQuantity where it lies on the window's edge, naming scheme and density.
    """
    curve = loss_curve(table, scheme=scheme, density=density, x=x)
    try:
        return optimum_log2(list(curve), list(curve.values()))
    except InvalidQuantity as error:
        raise InvalidQuantity(f"{scheme} at density {density:g}: {error}") from error


def optimum_shift(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> float:
    """Return how far the optimum moves from dense to the lowest density, in octaves, signed."""
    lowest = float(table["density"].min())
    sparse = optimum(table, scheme=scheme, density=lowest, x=x)
    return sparse - optimum(table, scheme=scheme, density=1.0, x=x)


def rise_per_halving(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> float:
    """Return `optimum_shift` over how often the density is halved from dense to the lowest."""
    halvings = -math.log2(float(table["density"].min()))
    return optimum_shift(table, scheme=scheme, x=x) / halvings


def dense_losses_over(table: pd.DataFrame, *, known: Mapping[str, float]) -> list[float]:
    """Return by how much each scheme's least dense loss is above a known one of its text.

    Raises MissingRows where no dense net was run.
    """
    dense = table[table["density"] == 1.0]
    if dense.empty:
        raise MissingRows("the table has no dense nets")
    above = dense["train_loss"].fillna(math.inf) - dense["data"].map(known)
    return [float(least) for least in above.groupby(dense["scheme"], sort=False).min()]


def optimum_shifts(table: pd.DataFrame, *, schemes: Sequence[str]) -> list[float]:
    """Return `optimum_shift` of the learning rate of several schemes, in the given order."""
    return [optimum_shift(table, scheme=scheme) for scheme in schemes]


def optimum_distance(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> float:
    """Return how far the optimum moves from dense to the lowest density, in octaves."""
    return abs(optimum_shift(table, scheme=scheme, x=x))


def optimum_either_way(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> list[float]:
    """Return how far the optimum rises, and how far it falls: one is above 0 where it moves.

    Which of the two is decided over seeds; the size of a shift, seed by seed, would only grow
    with noise.
    """
    shift = optimum_shift(table, scheme=scheme, x=x)
    return [shift, -shift]


def transfer_loss(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> float:
    """Return what the dense model's best value costs at the lowest density.

    (loss there at the dense grid's best point - least loss there) / least loss there; infinite
    where the dense point diverges there: it does not transfer. Raises InvalidQuantity where an
    optimum lies on its window's edge, or the dense one was not tried at the lowest density.
    """
    lowest = float(table["density"].min())
    optimum(table, scheme=scheme, density=1.0, x=x)
    optimum(table, scheme=scheme, density=lowest, x=x)
    dense = loss_curve(table, scheme=scheme, density=1.0, x=x)
    sparse = loss_curve(table, scheme=scheme, density=lowest, x=x)
    carried = min(dense, key=lambda swept: dense[swept])
    if carried not in sparse:
        raise InvalidQuantity(
            f"{scheme}: the dense optimum 2^{carried:g} is outside the window at density {lowest:g}"
        )
    best = min(sparse.values())
    return (sparse[carried] - best) / best


def extra_transfer_losses(
    table: pd.DataFrame, *, schemes: Sequence[str], x: str = "log2_lr"
) -> list[float]:
    """Return by how much `transfer_loss` of some schemes is above SmuPar's, in the given order."""
    least = transfer_loss(table, scheme="supar", x=x)
    return [transfer_loss(table, scheme=scheme, x=x) - least for scheme in schemes]


def within_rows(
    table: pd.DataFrame, *, column: str, value: str, quantity: Quantity
) -> float | Sequence[float]:
    """Return a quantity of those rows alone whose `column` has one value."""
    return quantity(pick(table, **{column: value}))


def densities_of(table: pd.DataFrame) -> list[float]:
    """Return the densities of a table, descending."""
    return sorted((float(density) for density in table["density"].unique()), reverse=True)


def largest_dense_difference(
    table: pd.DataFrame, *, schemes: Sequence[str], x: str = "log2_lr"
) -> float:
    """Return the largest difference of two schemes' dense losses at common points; whole table.

    Two diverged runs are equal; one that diverged alone is infinitely far. Raises MissingRows
    where the schemes share no point and seed.
    """
    left, right = (_dense_losses(table, scheme, x) for scheme in schemes)
    common = sorted(left.keys() & right.keys())
    if not common:
        raise MissingRows(f"{' and '.join(schemes)} share no dense point of {x}")
    pairs = [(left[key], right[key]) for key in common]
    return max(0.0 if a == b else abs(a - b) for a, b in pairs)


def _dense_losses(table: pd.DataFrame, scheme: str, x: str) -> dict[tuple[float, int], float]:
    rows = table[(table["scheme"] == scheme) & (table["density"] == 1.0)]
    keys = zip(rows[x], rows["seed"], strict=True)
    losses = (math.inf if math.isnan(loss) else float(loss) for loss in rows["train_loss"])
    return {
        (float(point), int(seed)): loss for (point, seed), loss in zip(keys, losses, strict=True)
    }
