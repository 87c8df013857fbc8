"""Theorem 1: on a convex problem the mean suboptimality falls like one over the root of T."""

from __future__ import annotations

from functools import partial
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
    claims,
    columns_of,
    ours,
    param,
    pick,
    value,
)
from reproductions.lisa.theory.experiment import Run, runs

if TYPE_CHECKING:
    import pandas as pd

EXACT = CHECK.at(*SMOKE_AND_CPU)
OURS = ours(
    "DEV-04",
    profiles=CPU,
    elsewhere="a few steps have no last decade, and there is nothing in it for a GPU",
)
ASKED = -0.4
POLICIES = {
    "keep_all": "with the states of frozen blocks kept, as in the randomized block-coordinate Adam"
    " that the proof rests on",
    "drop_refrozen": "with the states of frozen blocks dropped, our default",
    "reset_all": "with all states dropped at every switch",
}


def slowest_slope(table: pd.DataFrame, *, policy: str) -> float:
    """Return the largest log-log slope of the mean suboptimality over the last decade of steps.

    By least squares; over the weight decays.
    """
    return max(_slope(group) for _, group in pick(table, policy=policy).groupby("decay"))


def _slope(rows: pd.DataFrame) -> float:
    import numpy as np

    last = rows[rows["num_steps"] >= rows["num_steps"].max() / 10]
    if len(last) < 3 or (last["mean_gap"] <= 0.0).any():
        raise InvalidQuantity("the last decade has too few points, or none above the optimum")
    steps, gaps = (np.log(last[name].to_numpy("float64")) for name in ("num_steps", "mean_gap"))
    return float(np.polyfit(steps, gaps, 1)[0])


def largest_gradient(table: pd.DataFrame) -> float:
    """Return the largest entry of f_reg's gradient at any optimum."""
    return float(table["optimum_gradient"].max())


def least_gap(table: pd.DataFrame) -> float:
    """Return the least difference of any iterate from the optimum."""
    return float(table["gap"].min())


RATES = (
    (
        f"rate_{policy}",
        OURS,
        at_most(partial(slowest_slope, policy=policy), ASKED, "slope"),
        f"The mean suboptimality falls at least like T^{ASKED} over the last decade of T, {words}"
        " (slope in log-log of the slower of two weight decays).",
    )
    for policy, words in POLICIES.items()
)
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
        *RATES,
    ),
    figure="figures:rate_panels",
    caption="Mean over steps of f_reg(w_t) - f_reg* against the number of steps: logistic"
    " regression on digits, even against odd, eight blocks of which two train at once, a step size"
    " that falls like one over the root of t. Lines: mean over seeds; bars: standard error."
    " Dotted: the theorem's slope of -1/2.",
    alt="Log-log plot of mean suboptimality against steps for three state policies and two weight"
    " decays; lines fall about as steeply as the dotted guide.",
)
