"""Theorem 1: on a convex problem the mean suboptimality falls like one over the root of T."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    InvalidQuantity,
    Table,
    Task,
    at_least,
    at_most,
    by_theory,
    claims,
    columns_of,
    param,
    pick,
    value,
)
from reproductions.lisa.models.claims import NOTHING_BESIDE
from reproductions.lisa.theory.experiment import DECAYS, Run, runs

if TYPE_CHECKING:
    import pandas as pd

EXACT = CHECK.at(*SMOKE_AND_CPU)
SLOPE = by_theory(
    profiles=CPU,
    elsewhere="a few steps have no last decade, and there is nothing in it for a GPU",
).without_null(NOTHING_BESIDE)
ASKED = -0.5
"""Of T in Theorem 1."""
NO_TEST = (
    "the theorem bounds the mean from above at every T, by a constant that it does not name: no"
    " slope over a decade shows it, or contradicts it"
)


def slope(table: pd.DataFrame, *, policy: str, decay: float) -> float:
    """Return the log-log slope of the mean suboptimality over the last decade of steps.

    By least squares.
    """
    import numpy as np

    rows = pick(table, policy=policy, decay=decay)
    last = rows[rows["num_steps"] >= rows["num_steps"].max() / 10]
    if len(last) < 3 or (last["mean_gap"] <= 0.0).any():
        raise InvalidQuantity("the last decade has too few points, or none above the optimum")
    steps, gaps = (np.log(last[name].to_numpy("float64")) for name in ("num_steps", "mean_gap"))
    return float(np.polyfit(steps, gaps, 1)[0])


def kept_slopes(table: pd.DataFrame) -> list[float]:
    """Return the slope at each weight decay, with the states of frozen blocks kept."""
    return [slope(table, policy="keep_all", decay=decay) for decay in DECAYS]


def undecidable(table: pd.DataFrame) -> str:
    """Return why the slopes decide nothing, whatever they are."""
    return NO_TEST


def largest_gradient(table: pd.DataFrame) -> float:
    """Return the largest entry of f_reg's gradient at any optimum."""
    return float(table["optimum_gradient"].max())


def least_gap(table: pd.DataFrame) -> float:
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
            at_most(largest_gradient, 1e-9, "gradient"),
            "f_reg's gradient vanishes at the optimum (largest entry).",
        ),
        (
            "nothing_below_the_optimum",
            EXACT,
            at_least(least_gap, -1e-12, "loss"),
            "No iterate lies below the optimum of f_reg (least difference).",
        ),
        (
            "rate_keep_all",
            SLOPE,
            at_most(kept_slopes, ASKED, "slope")
            .unless(undecidable)
            .naming(*(f"weight decay {decay:g}" for decay in DECAYS)),
            f"The mean suboptimality falls at least like T^{ASKED} over the last decade of T at"
            " either weight decay, with the states of frozen blocks kept, as in the randomized"
            " block-coordinate Adam that the proof rests on (slope in log-log, the less steep).",
        ),
    ),
    figure="figures:rate_panels",
    caption="Mean over steps of f_reg(w_t) - f_reg* against the number of steps: logistic"
    " regression on digits, even against odd, eight blocks of which two train at once, a step size"
    " that falls like one over the root of t. Lines: mean over seeds; bars: standard error."
    " Dotted: the theorem's slope of -1/2; it is a bound from above, for kept states (keep_all).",
    alt="Log-log plot of mean suboptimality against steps for three state policies and two weight"
    " decays; lines fall about as steeply as the dotted guide.",
)
