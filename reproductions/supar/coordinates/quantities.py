"""The quantities that the claims of this paper are about, each a number from a task's table.

Those of sweeps and losses are in `loss_quantities`. Every function takes the table of one seed,
unless it says "whole table". No torch, no pandas at import.

Sources: "Fig" and "Table" are those of the camera-ready; the rules are its Table 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.declare.statistics import InvalidQuantity, MissingRows
from reproductions.supar.method.slopes import log_slope

if TYPE_CHECKING:
    import pandas as pd

STRICTLY = -1e-9
"""Slack of an ordering that must be strict: equal numbers neither exceed nor fall."""


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
