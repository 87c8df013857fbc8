"""Theorem 1: on a convex problem the mean suboptimality falls like one over the root of T."""

from __future__ import annotations

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Frame,
    Table,
    Task,
    at_least,
    at_most,
    claims,
    columns_of,
    param,
    value,
)
from reproductions.lisa.theory.experiment import Run, runs

EXACT = CHECK.at(*SMOKE_AND_CPU)


def largest_gradient(table: Frame) -> float:
    """Return the largest entry of f_reg's gradient at any optimum."""
    return float(table["optimum_gradient"].max())


def least_gap(table: Frame) -> float:
    """Return the least difference of any iterate from the optimum."""
    return float(table["gap"].min())


task = Task(
    "lisa/theory",
    own_kind="theory",
    reads=(runs,),
    table=Table.of(
        columns_of(Run, "policy", "decay"),
        param("num_steps", int, "Steps T so far."),
        columns_of(Run, "seed"),
        value("gap", float, "f_reg(w_T) - f_reg*."),
        value("mean_gap", float, "Its mean over steps 1 to T."),
        value("optimum_gradient", float, "Largest entry of f_reg's gradient at the optimum."),
        value("optimum_norm", float, "Norm of the optimum."),
    ),
    claims=claims(
        "Theorem 1, section 3.3",
        (
            "optimum_is_stationary",
            EXACT,
            at_most(largest_gradient, 1e-9, "gradient").measuring("largest entry"),
            "The gradient vanishes at the optimum.",
        ),
        (
            "nothing_below_the_optimum",
            EXACT,
            at_least(least_gap, -1e-12, "loss").measuring("least difference"),
            "No step goes below the optimum.",
        ),
    ),
    figure="figures:rate_panels",
    caption="Mean of f_reg(w_t) - f_reg* over the steps so far, against their number: logistic"
    " regression on digits, even against odd, two of eight blocks training at once, a step size of"
    " 0.1 / sqrt(t). Lines: mean over seeds; bars: standard error. Dotted: the theorem's slope of"
    " -1/2, a bound from above for kept states (keep_all).",
    alt="Log-log plot of mean suboptimality against steps for three state policies and two weight"
    " decays; lines fall about as steeply as the dotted guide.",
)
