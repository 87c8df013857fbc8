"""What the claims on sweeps and losses are about, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". Losses are in nats;
a diverged run has no loss and counts as infinitely bad. Densities of a grid are compared by
value, "lowest" being the smallest in the table. `x` names the column that is swept: log2_lr or
log2_sigma. No torch, no pandas at import.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from harness.declare.statistics import InvalidQuantity, MissingRows, optimum_log2

if TYPE_CHECKING:
    import pandas as pd

    Quantity = Callable[[pd.DataFrame], float | Sequence[float]]


def within_rows(
    table: pd.DataFrame, *, column: str, value: str, quantity: Quantity
) -> float | Sequence[float]:
    """Return a quantity of those rows alone whose `column` has one value."""
    return quantity(table[table[column] == value])


# --- loss against what is swept (Figures 1, 6, 7, 9, 11 to 14) ---


def loss_curve(
    table: pd.DataFrame, *, scheme: str, density: float, x: str = "log2_lr"
) -> dict[float, float]:
    """Return train loss by the swept value, ascending; a diverged run is infinite.

    Raises MissingRows where the table has no such curve.
    """
    rows = table[(table["scheme"] == scheme) & (table["density"] == density)]
    if rows.empty:
        raise MissingRows(f"the table has no rows of {scheme} at density {density:g}")
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


def optimum_distance(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> float:
    """Return how far the optimum moves from dense to the lowest density, in octaves."""
    return abs(optimum_shift(table, scheme=scheme, x=x))


def larger_distance(table: pd.DataFrame, *, schemes: Sequence[str], x: str = "log2_lr") -> float:
    """Return the larger of the distances that the optima of some schemes move, in octaves."""
    return max(optimum_distance(table, scheme=scheme, x=x) for scheme in schemes)


def extra_distance(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> float:
    """Return how much farther a scheme's optimum moves than SmuPar's, in octaves."""
    return optimum_distance(table, scheme=scheme, x=x) - optimum_distance(
        table, scheme="supar", x=x
    )


def farthest_optimum(table: pd.DataFrame, *, scheme: str, log2_lr: float) -> float:
    """Return the largest distance of an optimum from a learning rate, over densities, octaves."""
    return max(
        abs(optimum(table, scheme=scheme, density=density) - log2_lr)
        for density in _densities(table)
    )


def optimum_range(table: pd.DataFrame, *, scheme: str) -> float:
    """Return the distance between the outermost optima over all densities, in octaves."""
    optima = [optimum(table, scheme=scheme, density=density) for density in _densities(table)]
    return max(optima) - min(optima)


def best_losses(table: pd.DataFrame, *, scheme: str, x: str = "log2_lr") -> dict[float, float]:
    """Return train loss by density, descending, each at the point of least validation loss.

    Raises InvalidQuantity where that point is on its window's edge: it is the window's, then.
    """
    found = {}
    for density in _densities(table):
        rows = table[(table["scheme"] == scheme) & (table["density"] == density)]
        if rows["val_loss"].isna().all():
            raise InvalidQuantity(f"{scheme} at density {density:g}: no run has a loss")
        best = rows.loc[rows["val_loss"].idxmin()]
        if best[x] in (rows[x].min(), rows[x].max()):
            raise InvalidQuantity(
                f"{scheme} at density {density:g}: the least validation loss is on the edge of its"
                f" window, at 2^{best[x]:g}"
            )
        found[density] = float(best["train_loss"])
    return found


def descending_best(table: pd.DataFrame, *, scheme: str) -> list[float]:
    """Return -log of the least loss from the densest to the sparsest, claimed to ascend.

    Steps are relative improvements of the loss.
    """
    return [-math.log(loss) for loss in best_losses(table, scheme=scheme).values()]


def best_gain(table: pd.DataFrame, *, scheme: str) -> float:
    """Return by how much the least loss at the lowest density is below the dense one, relative."""
    losses = list(best_losses(table, scheme=scheme).values())
    return (losses[0] - losses[-1]) / losses[0]


def non_monotonicity(table: pd.DataFrame, *, scheme: str, x: str) -> float:
    """Return how far the least loss is from being a monotone function of density, relative.

    The largest rise or the largest fall from one density to the next lower one, whichever is
    smaller; not positive where all steps go one way.
    """
    losses = list(best_losses(table, scheme=scheme, x=x).values())
    steps = [after / before - 1.0 for before, after in itertools.pairwise(losses)]
    return min(max(steps), -min(steps))


def largest_instability(
    table: pd.DataFrame, *, schemes: Sequence[str], x: str, octaves: float, noise: float
) -> float:
    """Return the largest sign that an optimum does not hold, over schemes and two signs.

    The distance it moves over `octaves`, and `non_monotonicity` over `noise`: at least 1 where
    either passes its bound.
    """
    return max(
        max(
            optimum_distance(table, scheme=scheme, x=x) / octaves,
            non_monotonicity(table, scheme=scheme, x=x) / noise,
        )
        for scheme in schemes
    )


def failure_of_half(table: pd.DataFrame, *, scheme: str, x: str, octaves: float) -> float:
    """Return how surely half a correction fails: above 0 where either sign is there.

    The distance its optimum moves beyond SmuPar's and `octaves`, or by how much dearer its
    transfer is, relative to the loss; whichever is larger.
    """
    ours, theirs = transfer_losses(table, schemes=("supar", scheme), x=x)
    return max(extra_distance(table, scheme=scheme, x=x) - octaves, theirs - ours)


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


def transfer_losses(
    table: pd.DataFrame, *, schemes: Sequence[str], x: str = "log2_lr"
) -> list[float]:
    """Return `transfer_loss` of several schemes, in the given order."""
    return [transfer_loss(table, scheme=scheme, x=x) for scheme in schemes]


def _densities(table: pd.DataFrame) -> list[float]:
    return sorted((float(density) for density in table["density"].unique()), reverse=True)


# --- the dense nets of two schemes ---


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


# --- loss at the chosen learning rate (Figure 8) ---


def mean_gap(table: pd.DataFrame, *, scheme: str, densest: float) -> float:
    """Return the mean over densities up to `densest` of (scheme - supar) / supar.

    Of train losses, each at its own chosen learning rate. Raises InvalidQuantity where a choice
    lies on its window's edge: its loss then is the window's, not the scheme's.
    """
    theirs = _chosen_losses(table, scheme, densest)
    ours = _chosen_losses(table, "supar", densest)
    if theirs.keys() != ours.keys():
        raise MissingRows(f"{scheme} and supar were not run at the same densities")
    return statistics.fmean((theirs[d] - ours[d]) / ours[d] for d in ours)


def _chosen_losses(table: pd.DataFrame, scheme: str, densest: float) -> dict[float, float]:
    rows = table[(table["scheme"] == scheme) & (table["density"] <= densest)]
    if rows.empty:
        raise MissingRows(f"the table has no rows of {scheme} up to density {densest:g}")
    losses = {}
    for density, loss, edge in zip(
        rows["density"], rows["train_loss"], rows["on_edge"], strict=True
    ):
        if bool(edge) or math.isnan(loss):
            reason = "no run has a loss" if math.isnan(loss) else "the best rate is on the edge"
            raise InvalidQuantity(f"{scheme} at density {density:g}: {reason} of its window")
        losses[float(density)] = float(loss)
    return losses


# --- loss at given hyperparameters (Figures 3 and 10) ---


def losses_at(
    table: pd.DataFrame, *, schemes: Sequence[str], density: float, value: str
) -> list[float]:
    """Return a loss of several schemes at one density, in the given order; inf if diverged."""
    return list(_losses_at(table, schemes, density, value))


def _losses_at(
    table: pd.DataFrame, schemes: Sequence[str], density: float, value: str
) -> Iterator[float]:
    for scheme in schemes:
        rows = table[(table["scheme"] == scheme) & (table["density"] == density)]
        if len(rows) != 1:
            raise MissingRows(f"{scheme} at density {density:g}: {len(rows)} rows, need one a seed")
        loss = float(rows[value].iloc[0])
        yield math.inf if math.isnan(loss) else loss


def gap_at(
    table: pd.DataFrame, *, scheme: str, density: float, value: str, over: str = "supar"
) -> float:
    """Return (scheme - SmuPar) / `over` at one density; `over` is one of the two.

    The paper does not say which of the two it divides by.
    """
    theirs, ours = _losses_at(table, (scheme, "supar"), density, value)
    # In this form a rival that diverged is infinitely, or wholly, worse.
    return theirs / ours - 1.0 if over == "supar" else 1.0 - ours / theirs


def gap_at_lowest(table: pd.DataFrame, *, scheme: str, value: str, over: str = "supar") -> float:
    """Return `gap_at` the lowest density."""
    lowest = float(table["density"].min())
    return gap_at(table, scheme=scheme, density=lowest, value=value, over=over)


def dense_and_sparse_gap(table: pd.DataFrame, *, scheme: str, value: str) -> list[float]:
    """Return `gap_at` density 1 and at the lowest density, claimed to ascend."""
    dense = gap_at(table, scheme=scheme, density=1.0, value=value)
    return [dense, gap_at_lowest(table, scheme=scheme, value=value)]


def flops_to_dense(table: pd.DataFrame) -> float:
    """Return training operations of the sparsest net over those of the dense one; whole table."""
    by_density = table.groupby("density")["train_flops"].first()
    return float(by_density.loc[by_density.index.min()] / by_density.loc[1.0])
