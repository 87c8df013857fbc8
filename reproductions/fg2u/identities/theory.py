"""Estimators, Lemma 3.1, Theorem 3.4 and the biases of Appendix B as exact statements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Criterion,
    Table,
    Task,
    at_most,
    claims,
    columns_of,
    equal,
    param,
    value,
    within,
)
from reproductions.fg2u.identities import quantities as q
from reproductions.fg2u.identities.experiment import Group, groups

EXACT = CHECK.at(
    *SMOKE_AND_CPU, elsewhere="a larger scale shows nothing new: these are the same on any machine"
)
ZERO = 1e-10
"""Relative, in float64."""


def none(check: str, *, tolerance: float = ZERO, unit: str = "relative difference") -> Criterion:
    """Ask that the largest difference of a check is zero."""
    return equal(partial(q.largest, check=check), 0, unit, tolerance=tolerance)


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
        *claims(
            "Sections 2 and 3.1",
            (
                "slopes_are_products",
                EXACT,
                at_most(
                    partial(q.largest, check="slopes"), 1e-8, "difference over max(1, |g| |v|)"
                ),
                "The forward derivative along v is <g, v>, with g by reverse unrolling: largest"
                " difference 1e-8 of max(1, |g| |v|), seven Rademacher and seven Gaussian"
                " directions, through momentum SGD and Adam with learned initial weights, example"
                " weights and step sizes (eqs. 8, 9).",
            ),
            (
                "coordinates_are_exact",
                EXACT,
                none("forward", tolerance=1e-6),
                "All N scaled coordinate directions, and forward unrolling (FGU), give the gradient"
                " of reverse unrolling to 1e-6 (eq. 4).",
            ),
            (
                "chunks_do_not_matter",
                EXACT,
                none("chunks", tolerance=1e-6),
                "An estimate of 7 directions is the same for chunks of 1, 5 and 7, to 1e-6.",
            ),
            (
                "workers_do_not_matter",
                EXACT,
                none("workers", tolerance=1e-6),
                "The parts of 1, 2 and 4 workers add up to the estimate of one, to 1e-6; the"
                " workers take turns in one process (processes: the library's tests).",
            ),
        ),
        *claims(
            "MixFlow-MG, arXiv 2505.00793 (ours)",
            (
                "mixflow_is_rgu",
                EXACT,
                none("mixflow"),
                "rgu-mixflow gives the gradient of reverse unrolling to 1e-10, through momentum"
                " SGD and Adam, in segments of one step and of the root of T.",
            ),
            (
                "mixflow_keeps_theta",
                EXACT,
                within(
                    partial(q.largest, check="mixflow_bytes", value="ratio"), 0.95, 1.05, "ratio"
                ),
                "A further inner step adds the bytes of theta to rgu-mixflow's peak, within 5 %"
                " (momentum SGD, counted).",
            ),
        ),
        *claims(
            "The released script, against section 2",
            (
                "released_without_momentum",
                EXACT,
                none("released_exact"),
                "The released reverse recursion, which holds momentum for a constant and leaves out"
                " the first step, is exact without momentum where phi acts from the second step"
                " on, to 1e-10. With momentum it is not: the table has cosine and norm.",
            ),
        ),
        *claims(
            "Lemma 3.1",
            (
                "mean_is_the_gradient",
                EXACT,
                none("mean"),
                "The mean of (FG)2U's estimate over all 2^N sign vectors is the gradient to 1e-10:"
                " N = 1, 2, 4, 6, 8 and b = 1, 2.",
            ),
            (
                "squared_error",
                EXACT,
                none("squared_error", unit="|g|^2"),
                "The mean over all of them of |estimate - g|^2 is (N-1)/b |g|^2, to 1e-10 |g|^2.",
            ),
        ),
        *claims(
            "Theorem 3.4",
            (
                "descent_within_bound",
                EXACT,
                at_most(partial(q.largest, check="descent", value="ratio"), 1.0, "share of bound"),
                "Descent along estimates with the theorem's step keeps the mean of E|grad h|^2"
                " within 4 L_h Delta / (rho K) at every K shown up to 1,000: N = 4, 12, b up to"
                " N-1, exact second moments (largest share).",
            ),
            (
                "moments_are_exact",
                EXACT,
                none("one_step"),
                "The recursion of second moments is one outer step along every estimate there is,"
                " to 1e-10 (N = 5, b = 1, 2).",
            ),
            (
                "isotropic_closed_form",
                EXACT,
                none("isotropic", unit="share of bound"),
                "Where h = lambda |phi|^2 / 2 the left side is 1 - (1 + rho)^-K of the bound of"
                " eq. 39 to 1e-10; with b = N-1 that is 1 - 2^-K of the printed bound.",
            ),
        ),
        *claims(
            "Appendix B",
            (
                "full_truncation_is_rgu",
                EXACT,
                none("full_truncation"),
                "TRGU that keeps all T steps gives the gradient of reverse unrolling to 1e-10"
                " (eq. 21).",
            ),
            (
                "quadratic_in_closed_form",
                EXACT,
                none("closed_form"),
                "Reverse unrolling gives the closed-form gradient of the quadratic problem that the"
                " biases are measured on, to 1e-10.",
            ),
            (
                "truncation_within_bound",
                EXACT,
                at_most(
                    partial(q.largest, check="truncation", value="ratio"), 1.0, "share of bound"
                ),
                "TRGU's bias is within eq. 22 for every s below T, on a strongly convex quadratic"
                " with gradient descent (largest share).",
            ),
            (
                "series_converges",
                EXACT,
                none("converged", tolerance=1e-5),
                "A long Neumann series with alpha < 1/L gives the implicit gradient at theta_T to"
                " 1e-5: a quadratic, and logistic regression by its whole Hessian (eq. 25).",
            ),
            (
                "series_tail",
                EXACT,
                none("series_tail"),
                "A short series lacks just the tail of eq. 25, to 1e-10 of the estimate.",
            ),
            (
                "implicit_error",
                EXACT,
                none("implicit_error"),
                "The gradient less Neumann's estimate is eq. 27's error, to 1e-10 of it.",
            ),
            (
                "series_unrolls",
                EXACT,
                none("series_unrolls"),
                "On a quadratic Neumann with alpha = eta and K = T-1 is reverse unrolling, to"
                " 1e-10.",
            ),
            (
                "first_term_is_last_step",
                EXACT,
                none("first_term"),
                "On a quadratic Hessian-free with alpha = eta is TRGU that keeps one step, to"
                " 1e-10.",
            ),
            (
                "early_phi_unseen",
                EXACT,
                equal(
                    partial(q.largest, check="early_unseen", value="ratio"), 0, "|estimate| / |g|"
                ),
                "Where phi is initial weights and the step sizes of the first two steps, TRGU that"
                " keeps no more than the others, Hessian-free and Neumann are exactly 0.",
            ),
            (
                "early_phi_seen",
                EXACT,
                none("early_seen"),
                "There (FG)2U over coordinates, and in the mean over all sign vectors, is the"
                " gradient of reverse unrolling, to 1e-10.",
            ),
        ),
        *claims(
            "Section 3.2",
            (
                "one_direction_flops",
                EXACT,
                at_most(
                    q.one_direction, 3.0, "unrolls", paper_value=printed("jvp_flops_over_forward")
                ),
                "The slope along one direction takes at most 3 times the FLOPs of the plain unroll"
                " (matrix products of an MLP, counted).",
            ),
            (
                "chunk_flops",
                EXACT,
                at_most(q.chunk_flops, 1.0, "share of 1 + 2c"),
                "The slopes along c = 1, 2, 4 directions at a time take at most 1 + 2c times the"
                " FLOPs of the plain unroll (largest share).",
            ),
            (
                "differences_flops",
                EXACT,
                at_most(partial(q.largest, check="zo_flops", value="ratio"), 1.0, "ratio"),
                "Forward differences (ZO) take no more FLOPs than forward derivatives along as"
                " many directions (largest ratio).",
            ),
        ),
    ),
    figure="figures:bound_panels",
    caption="Left: mean over the outer steps k < K of E|grad h(phi_k)|^2 over the bound of Theorem"
    " 3.4, for descent along (FG)2U's estimates on a quadratic outer loss of N variables, b"
    " directions a step; exact second moments, nothing is sampled. Right: bias of TRGU that keeps"
    " the last s of 12 inner steps, and eq. 22's bound (dotted), relative to the gradient, for two"
    " inner step sizes; a quadratic inner loss whose largest eigenvalue is L. The paper draws no"
    " figure of either.",
    alt="Two panels. Left: curves that rise with the number of outer steps and level off below a"
    " dotted line at one. Right: two falling curves of bias on a logarithmic axis, each far below"
    " its dotted bound.",
)
