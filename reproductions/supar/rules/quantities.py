"""What the checks of Table 1 measure; its formulas are written once more here. Whole table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.declare import MissingRows, pick
from reproductions.supar.models.schemes import SCHEMES

if TYPE_CHECKING:
    import pandas as pd


def rule_error(table: pd.DataFrame, *, rule: str) -> float:
    """Return the largest relative difference of a rule, as built, from its Table 1 formula.

    The table holds one row per scheme, width and density with the base hyperparameters.
    """
    rows = pick(table, check="rules")
    if not set(SCHEMES) <= set(rows["scheme"]):
        raise MissingRows("the table lacks the rules of a scheme of Table 1")
    errors = []
    for row in rows[rows["scheme"].isin(SCHEMES)].to_dict("records"):
        expected = table_1(row, rule)
        errors.append(abs(float(row[rule]) - expected) / abs(expected))
    return max(errors)


def table_1(row: Mapping[Any, Any], rule: str) -> float:
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
    return float(formulas[rule])


def largest_check(table: pd.DataFrame, *, check: str, value: str) -> float:
    """Return the largest value that a check's trials measured."""
    return float(pick(table, check=check)[value].max(skipna=False))
