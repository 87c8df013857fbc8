"""Table 1: the rules of SP, muP and SmuPar, as our models are really built."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from harness.declare import (
    CHECK,
    Cell,
    Frame,
    Layout,
    Line,
    MissingRows,
    Table,
    Task,
    at_most,
    claims,
    equal,
    pick,
    value,
)
from reproductions.supar.models.schemes import LABELS, SCHEMES
from reproductions.supar.rules.experiment import (
    DENSITIES,
    MEASURED,
    RULES,
    WIDTHS,
    Check,
    identities,
)

ROUNDING = 2.5e-7
"""Relative. Weights are float32: a factor on them is off by up to 2^-24, its square by 2^-23, and
each rounding of a product by as much again. A wrong rule is off by a power of two."""
LAYOUT = Layout(
    rows=tuple(
        Line(head, cell=Cell(rule, digits=5), paper={"y_name": rule})
        for rule, (head, _) in RULES.items()
    ),
    columns=tuple(
        Line(
            head,
            group=LABELS[scheme],
            where={"scheme": scheme},
            paper={"series": scheme} if head == "rule" else {},
            shows="paper" if head == "rule" else "ours",
        )
        for scheme in SCHEMES
        for head in ("rule", "as built")
    ),
    where={"check": "rules", "width": WIDTHS[-1], "density": DENSITIES[-1]},
    notes=(
        "The rule is the paper's formula; as built is what a net was built with at the largest"
        f" width and the lowest density that are checked: m_d = {WIDTHS[-1] / WIDTHS[0]:g}, m_rho ="
        f" {DENSITIES[-1]:g}.",
    ),
)


def rule_errors(table: Frame) -> list[float]:
    """Return, by rule, the largest relative difference as built from its Table 1 formula.

    The table holds one row per scheme, width and density with the base hyperparameters.
    """
    rows = pick(table, check="rules")
    if not set(SCHEMES) <= set(rows["scheme"]):
        raise MissingRows("the table lacks the rules of a scheme of Table 1")
    built = rows[rows["scheme"].isin(SCHEMES)].to_dict("records")
    return [max(_error(row, rule) for row in built) for rule in RULES]


def _error(row: Mapping[Any, Any], rule: str) -> float:
    expected = table_1(row, rule)
    return abs(float(row[rule]) - expected) / abs(expected)


def table_1(row: Mapping[Any, Any], rule: str) -> float:
    """Return what Table 1 demands; forward rules as the factor on the product.

    Its formulas are written once more here, apart from those that build the nets.
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


def largest_check(table: Frame, *, check: str, value: str) -> float:
    """Return the largest value that a check's trials measured."""
    return float(pick(table, check=check)[value].max(skipna=False))


task = Task(
    "supar/tab01",
    reads=(identities,),
    table=Table.of(
        Check,
        *(value(name, float, doc, nullable=True) for name, doc in MEASURED.items()),
    ),
    layout=LAYOUT,
    claims=claims(
        "Table 1",
        (
            "rules_as_printed",
            CHECK,
            at_most(rule_errors, ROUNDING, "").naming(*(phrase for _, phrase in RULES.values())),
            "Models are built by every rule of Table 1, in each scheme at every width and density.",
        ),
    )
    + claims(
        "Table 1 with m_rho = 1",
        (
            "dense_twins",
            CHECK,
            equal(partial(largest_check, check="twin", value="max_abs_loss_difference"), 0, ""),
            "Dense nets under SμPar and both ablations train bit for bit as under μP.",
        ),
    )
    + claims(
        "section 3, Y = X (W * M); Figure 4",
        (
            "masked_stay_zero",
            CHECK,
            equal(partial(largest_check, check="masked", value="max_abs_masked_weight"), 0, ""),
            "Masked weights stay exactly zero in training, stored and in use.",
        ),
    ),
)
