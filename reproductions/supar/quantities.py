"""The quantities that the claims of this paper are about, each a number from a task's table.

Every function takes the table of one seed, unless it says "whole table". Losses are in nats;
a diverged run has no loss and counts as infinitely bad. Densities of a grid are compared by
value, "lowest" being the smallest in the table. No torch, no pandas at import.

Sources: "Fig" and "Table" are those of the camera-ready; the rules are its Table 1.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from harness.statistics import InvalidQuantity, MissingRows, optimum_log2

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

STRICTLY = -1e-9
"""Slack of an ordering that must be strict: equal numbers neither exceed nor fall."""


# --- loss against learning rate (Figures 1, 6, 8) ---


def loss_curve(table: pd.DataFrame, *, scheme: str, density: float) -> dict[float, float]:
    """Return train loss by log2 learning rate, ascending; a diverged run is infinite.

    Raises MissingRows where the table has no such curve.
    """
    rows = table[(table["scheme"] == scheme) & (table["density"] == density)]
    if rows.empty:
        raise MissingRows(f"the table has no rows of {scheme} at density {density:g}")
    pairs = zip(rows["log2_lr"], rows["train_loss"], strict=True)
    return {
        float(log2_lr): float(loss) if loss is not None and math.isfinite(loss) else math.inf
        for log2_lr, loss in sorted(pairs, key=lambda pair: pair[0])
    }


def optimum(table: pd.DataFrame, *, scheme: str, density: float) -> float:
    """Return the learning rate of least train loss, as log2, between grid points.

    Raises InvalidQuantity where it lies on the window's edge, naming scheme and density.
    """
    curve = loss_curve(table, scheme=scheme, density=density)
    try:
        return optimum_log2(list(curve), list(curve.values()))
    except InvalidQuantity as error:
        raise InvalidQuantity(f"{scheme} at density {density:g}: {error}") from error


def optimum_shift(table: pd.DataFrame, *, scheme: str) -> float:
    """Return how far the optimum moves from dense to the lowest density, in octaves, signed."""
    lowest = float(table["density"].min())
    sparse = optimum(table, scheme=scheme, density=lowest)
    return sparse - optimum(table, scheme=scheme, density=1.0)


def optimum_distance(table: pd.DataFrame, *, scheme: str) -> float:
    """Return how far the optimum moves from dense to the lowest density, in octaves."""
    return abs(optimum_shift(table, scheme=scheme))


def farthest_optimum(table: pd.DataFrame, *, scheme: str, log2_lr: float) -> float:
    """Return the largest distance of an optimum from a learning rate, over densities, octaves."""
    return max(
        abs(optimum(table, scheme=scheme, density=float(density)) - log2_lr)
        for density in sorted(table["density"].unique())
    )


def transfer_loss(table: pd.DataFrame, *, scheme: str) -> float:
    """Return what the dense model's best learning rate costs at the lowest density.

    (loss there at the dense grid's best rate - least loss there) / least loss there.
    Raises InvalidQuantity where the dense rate was not tried at the lowest density, or diverged.
    """
    lowest = float(table["density"].min())
    dense = loss_curve(table, scheme=scheme, density=1.0)
    sparse = loss_curve(table, scheme=scheme, density=lowest)
    best = min(sparse.values())
    if math.isinf(best) or math.isinf(min(dense.values())):
        raise InvalidQuantity(f"{scheme}: no learning rate gives a finite loss")
    rate = min(dense, key=lambda log2_lr: dense[log2_lr])
    if rate not in sparse:
        raise InvalidQuantity(
            f"{scheme}: the dense optimum 2^{rate:g} is outside the window at density {lowest:g}"
        )
    if math.isinf(sparse[rate]):
        raise InvalidQuantity(f"{scheme}: density {lowest:g} diverges at the dense optimum")
    return (sparse[rate] - best) / best


def transfer_losses(table: pd.DataFrame, *, schemes: Sequence[str]) -> list[float]:
    """Return `transfer_loss` of several schemes, in the given order."""
    return [transfer_loss(table, scheme=scheme) for scheme in schemes]


def largest_dense_difference(table: pd.DataFrame, *, schemes: Sequence[str]) -> float:
    """Return the largest difference of two schemes' dense losses at common rates; whole table.

    Two diverged runs are equal; one that diverged alone is infinitely far. Raises MissingRows
    where the schemes share no learning rate and seed.
    """
    left, right = (_dense_losses(table, scheme) for scheme in schemes)
    common = sorted(left.keys() & right.keys())
    if not common:
        raise MissingRows(f"{' and '.join(schemes)} share no dense learning rate")
    pairs = [(left[key], right[key]) for key in common]
    return max(0.0 if a == b else abs(a - b) for a, b in pairs)


def _dense_losses(table: pd.DataFrame, scheme: str) -> dict[tuple[float, int], float]:
    rows = table[(table["scheme"] == scheme) & (table["density"] == 1.0)]
    keys = zip(rows["log2_lr"], rows["seed"], strict=True)
    losses = (math.inf if math.isnan(loss) else float(loss) for loss in rows["train_loss"])
    return {(float(rate), int(seed)): loss for (rate, seed), loss in zip(keys, losses, strict=True)}


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


# --- coordinate check (Figure 5) ---


def by_density(
    table: pd.DataFrame, *, scheme: str, block: str, step: int, value: str
) -> dict[float, float]:
    """Return a measured size by density, ascending.

    Raises MissingRows where there is none, InvalidQuantity where one is not a positive number.
    """
    rows = table[(table["scheme"] == scheme) & (table["block"] == block) & (table["step"] == step)]
    sizes = dict(sorted(zip(rows["density"], rows[value], strict=True)))
    if len(sizes) < 2:
        raise MissingRows(f"{scheme}, {block}, step {step}: fewer than two densities")
    for density, size in sizes.items():
        if not (math.isfinite(size) and size > 0.0):
            raise InvalidQuantity(f"{scheme}, {block}, density {density:g}: {value} is {size:g}")
    return {float(density): float(size) for density, size in sizes.items()}


def activation_slope(table: pd.DataFrame, *, scheme: str, block: str, step: int) -> float:
    """Return the fitted slope of log2 mean absolute activation against log2 density."""
    sizes = by_density(table, scheme=scheme, block=block, step=step, value="mean_abs_activation")
    log2_density = [math.log2(density) for density in sizes]
    log2_size = [math.log2(size) for size in sizes.values()]
    return statistics.linear_regression(log2_density, log2_size).slope


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


def largest_to_smallest(
    table: pd.DataFrame, *, scheme: str, block: str, step: int, value: str
) -> tuple[float, float]:
    """Return the largest and the smallest size over densities, for their ratio."""
    sizes = by_density(table, scheme=scheme, block=block, step=step, value=value).values()
    return max(sizes), min(sizes)


def rising_with_density(
    table: pd.DataFrame, *, scheme: str, block: str, step: int, value: str
) -> list[float]:
    """Return log2 sizes from the lowest density to the highest, claimed to ascend."""
    sizes = by_density(table, scheme=scheme, block=block, step=step, value=value)
    return [math.log2(size) for size in sizes.values()]


# --- Table 1: rules, recomputed here from its formulas; whole table ---


def rule_error(table: pd.DataFrame, *, rule: str) -> float:
    """Return the largest relative difference of a rule, as built, from its Table 1 formula.

    The table holds one row per scheme, width and density with the base hyperparameters.
    """
    rows = table[(table["check"] == "rules") & table["scheme"].isin(("sp", "mup", "supar"))]
    if set(rows["scheme"]) != {"sp", "mup", "supar"}:
        raise MissingRows("the table lacks the rules of a scheme of Table 1")
    errors = []
    for row in rows.to_dict("records"):
        expected = table_1(row, rule)
        errors.append(abs(float(row[rule]) - expected) / abs(expected))
    return max(errors)


def table_1(row: dict[str, float], rule: str) -> float:
    """Return what Table 1 demands; forward rules as the factor on the product.

    m_d = width / base_width; m_rho = density (the base is dense), felt by SmuPar alone.
    """
    sp = row["scheme"] == "sp"
    m_d = 1.0 if sp else row["width"] / row["base_width"]
    m_rho = row["density"] if row["scheme"] == "supar" else 1.0
    formulas = {
        "embedding_init_var": row["sigma_base"] ** 2,
        "embedding_lr": row["eta_base"],
        "embedding_forward": 1.0 if sp else row["alpha_input"],
        "hidden_init_var": row["sigma_base"] ** 2 / (m_d * m_rho),
        "hidden_lr_adam": row["eta_base"] / (m_d * m_rho),
        "unembedding_forward": 1.0 if sp else row["alpha_output"] / m_d,
        "attention_logits": row["head_size"] ** (-0.5 if sp else -1.0),
    }
    return formulas[rule]


def largest_check(table: pd.DataFrame, *, check: str, value: str) -> float:
    """Return the largest value that a check's trials measured."""
    rows = table[table["check"] == check]
    if rows.empty:
        raise MissingRows(f"the table has no rows of the check {check}")
    return float(rows[value].max(skipna=False))


# --- Tables 3 and 4: settings of our own grids; whole table ---


def setting(table: pd.DataFrame, *, item: str, scheme: str, name: str) -> float:
    """Return one setting that our `paper` grid uses.

    Raises MissingRows where the grid does not state it.
    """
    rows = table[(table["item"] == item) & (table["scheme"] == scheme) & (table["setting"] == name)]
    if len(rows) != 1:
        raise MissingRows(f"{item}, {scheme}: the setting {name} has {len(rows)} rows, need one")
    return float(rows["value"].iloc[0])
