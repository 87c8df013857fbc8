"""Estimators, Lemma 3.1, Theorem 3.4 and the biases of Appendix B as exact statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Claim,
    Criterion,
    Frame,
    InvalidQuantity,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    equal,
    param,
    pick,
    value,
    within,
)
from reproductions.fg2u.identities.experiment import Group, groups

EXACT = CHECK.at(
    *SMOKE_AND_CPU, elsewhere="a larger scale shows nothing new: these are the same on any machine"
)
ZERO = 1e-10
"""Relative, in float64."""


def largest(table: Frame, *, check: str, value: str = "difference") -> float:
    """Return the largest value over all rows of a check."""
    return max(_values(table, check, value))


def one_direction(table: Frame) -> float:
    """Return the FLOPs of one direction over those of the plain unroll."""
    return max(_values(table, "forward_flops", "ratio", x=1.0))


def chunk_flops(table: Frame) -> float:
    """Return the largest share of 1 + 2 c unrolls that c directions at a time take."""
    rows = pick(table, check="forward_flops")
    return max(
        float(ratio) / (1.0 + 2.0 * x) for x, ratio in zip(rows["x"], rows["ratio"], strict=True)
    )


def _values(table: Frame, check: str, value: str, **also: float) -> list[float]:
    """Return the values of a check's rows. Raises InvalidQuantity where one is missing."""
    found = pick(table, check=check, **also)[value]
    if found.isna().any():
        raise InvalidQuantity(f"a row of {check} has no {value}")
    return [float(each) for each in found]


def exact(where: str, *declared: tuple[str, Criterion, str]) -> tuple[Claim, ...]:
    """Return checks on what one place says: id, criterion, and the statement in our words."""
    return claims(where, *((id, EXACT, criterion, said) for id, criterion, said in declared))


def none(check: str, *, tolerance: float = ZERO, unit: str = "relative difference") -> Criterion:
    """Ask that the largest difference of a check is zero."""
    return equal(partial(largest, check=check), 0, unit, tolerance=tolerance)


def up_to_one(check: str, unit: str) -> Criterion:
    """Ask that the largest ratio of a check is at most 1."""
    return at_most(partial(largest, check=check, value="ratio"), 1.0, unit)


def printed(name: str) -> Callable[..., float]:
    """Return what reads a number of the paper's text."""
    return lambda rows: float(rows.loc[rows["y_name"] == name, "value"].iloc[0])


task = Task(
    "fg2u/theory",
    own_kind="theory",
    reads=(groups,),
    table=Table.of(
        columns_of(Group, "statement"),
        param("check", str, "What is said to be equal, or at most a bound."),
        param("setting", str, "Inner optimizer, method, sizes: what it is said of."),
        param(
            "x",
            float,
            "A number: directions (slopes, forward, mean, squared_error, one_step, flops), chunk,"
            " workers, steps K (descent, isotropic), steps kept (truncation, early_unseen by"
            " trgu), further terms of Neumann's series, size of mixflow's segments (0: the root of"
            " T), first step that sees phi (released).",
        ),
        value(
            "difference",
            float,
            "Distance from what it should equal, relative where that is a gradient, rounded to"
            " 1e-12.",
            nullable=True,
        ),
        value(
            "ratio",
            float,
            "Left side over its bound (descent, isotropic, truncation); squared error over that of"
            " the gradient; largest entry over the gradient's norm (early_unseen); cost over cost.",
            nullable=True,
        ),
        value("cosine", float, "With the exact gradient, of biased methods.", nullable=True),
        value("norm_ratio", float, "Norm over the exact gradient's, of those.", nullable=True),
    ),
    claims=(
        *exact(
            "Sections 2 and 3.1",
            (
                "slopes_are_products",
                at_most(partial(largest, check="slopes"), 1e-8, "difference over max(1, |g| |v|)"),
                "The forward derivative along v is the product of v with the exact gradient.",
            ),
            (
                "coordinates_are_exact",
                none("forward", tolerance=1e-6),
                "All coordinate directions together, like forward unrolling, give the gradient.",
            ),
            (
                "chunks_do_not_matter",
                none("chunks", tolerance=1e-6),
                "An estimate is the same however many directions are taken at a time.",
            ),
            (
                "workers_do_not_matter",
                none("workers", tolerance=1e-6),
                "The parts of several workers add up to the estimate of one.",
            ),
        ),
        *exact(
            "MixFlow-MG, arXiv 2505.00793 (ours)",
            ("mixflow_is_rgu", none("mixflow"), "MixFlow gives the exact gradient."),
            (
                "mixflow_keeps_theta",
                within(partial(largest, check="mixflow_bytes", value="ratio"), 0.95, 1.05, "ratio"),
                "A further inner step costs MixFlow the bytes of the net's weights.",
            ),
        ),
        *exact(
            "The released script, against section 2",
            (
                "released_without_momentum",
                none("released_exact"),
                "Without momentum the released script is exact if phi acts after the first step.",
            ),
        ),
        *exact(
            "Lemma 3.1",
            (
                "mean_is_the_gradient",
                none("mean"),
                "The mean of (FG)²U's estimate over all sign vectors is the gradient.",
            ),
            (
                "squared_error",
                none("squared_error", unit="|g|^2"),
                "Over all sign vectors the square error is (N - 1)/b of the gradient's square.",
            ),
        ),
        *exact(
            "Theorem 3.4",
            (
                "descent_within_bound",
                up_to_one("descent", "share of bound"),
                "Descent along estimates keeps the squared gradient within Theorem 3.4's bound.",
            ),
            (
                "moments_are_exact",
                none("one_step"),
                "The recursion of second moments is one outer step along every estimate there is.",
            ),
            (
                "isotropic_closed_form",
                none("isotropic", unit="share of bound"),
                "On an isotropic quadratic descent is as fast as the closed form of eq. 39 says.",
            ),
        ),
        *exact(
            "Appendix B",
            (
                "full_truncation_is_rgu",
                none("full_truncation"),
                "TRGU that keeps all steps gives the exact gradient.",
            ),
            (
                "quadratic_in_closed_form",
                none("closed_form"),
                "Reverse unrolling gives the closed-form gradient of the quadratic problem.",
            ),
            (
                "truncation_within_bound",
                up_to_one("truncation", "share of bound"),
                "TRGU's bias is within eq. 22.",
            ),
            (
                "series_converges",
                none("converged", tolerance=1e-5),
                "A long Neumann series gives the implicit gradient of eq. 25.",
            ),
            (
                "series_tail",
                none("series_tail"),
                "A short Neumann series lacks just the tail of eq. 25.",
            ),
            (
                "implicit_error",
                none("implicit_error"),
                "The gradient less Neumann's estimate is the error of eq. 27.",
            ),
            (
                "series_unrolls",
                none("series_unrolls"),
                "On a quadratic a Neumann series of T terms is reverse unrolling.",
            ),
            (
                "first_term_is_last_step",
                none("first_term"),
                "On a quadratic Hessian-free is TRGU that keeps one step.",
            ),
            (
                "early_phi_unseen",
                equal(partial(largest, check="early_unseen", value="ratio"), 0, "|estimate| / |g|"),
                "Where phi acts in the early steps alone, every biased method gives exactly 0.",
            ),
            (
                "early_phi_seen",
                none("early_seen"),
                "Where phi acts in the early steps alone, (FG)²U gives the exact gradient.",
            ),
        ),
        *exact(
            "Section 3.2",
            (
                "one_direction_flops",
                at_most(
                    one_direction, 3.0, "unrolls", paper_value=printed("jvp_flops_over_forward")
                ),
                "One direction takes at most three times the FLOPs of a plain unroll.",
            ),
            (
                "chunk_flops",
                at_most(chunk_flops, 1.0, "share of 1 + 2c"),
                "Each direction taken at a time adds at most two plain unrolls of FLOPs.",
            ),
            (
                "differences_flops",
                up_to_one("zo_flops", "ratio"),
                "Differences take no more FLOPs than forward derivatives along as many directions.",
            ),
        ),
    ),
    figure="figures:bound_panels",
    caption="Left: mean squared gradient over K outer steps over the bound of Theorem 3.4, for"
    " descent along (FG)²U's estimates on a quadratic outer loss of N variables, b directions a"
    " step; second moments are exact. Right: bias of TRGU that keeps the last s of 12 inner steps,"
    " relative to the gradient, and eq. 22's bound (dotted), for two inner step sizes; L is the"
    " largest eigenvalue of the inner loss.",
    alt="Two panels. Left: curves that rise with the number of outer steps and level off below a"
    " dotted line at one. Right: two falling curves of bias on a logarithmic axis, each far below"
    " its dotted bound.",
)
