"""Figure 2: error against seconds per solution; a coefficient from 64 observations."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import inf

from harness.declare import (
    CHECK,
    Task,
    at_least,
    at_most,
    claims,
    monotone,
    ours,
    ratio,
)
from reproductions.fg2u.coefficients import quantities as q
from reproductions.fg2u.coefficients.experiment import LOGGED, forwards, inverses, slopes
from reproductions.fg2u.coefficients.table import FITTED, LAYOUT, PDE_NAMES

STEPS = LOGGED[:6]
"""Up to 5,000, which every training reaches."""
TRAINED = ("pinn_adam", "pinn_sgd")
DECIDED = ours(
    "DEV-22",
    profiles=("cpu", "paper"),
    elsewhere="a smoke run shows the path, and a GPU's grid has one seed",
)
PAIRS = [f"{more} against {fewer} steps" for fewer, more in pairwise(STEPS)][::-1]


task = Task(
    "fg2u/fig02",
    reads=(forwards, inverses, slopes),
    table=FITTED,
    claims=claims(
        "Lemma 3.1 with N = 1, eq. 16",
        (
            "one_direction_is_exact",
            CHECK,
            at_most(partial(q.worst_slope, method="fg2u"), 1e-10, "relative"),
            "With one unknown coefficient a single Rademacher direction of (FG)²U gives the exact"
            " derivative, that of reverse mode (largest difference over the equations): in fits"
            " through the solver nothing is random but the start.",
        ),
        (
            "differences_are_near",
            CHECK,
            at_most(partial(q.worst_slope, scheme="central", mu=1e-4), 1e-3, "relative"),
            "Central differences of 1e-4 give it to 1e-3, along one direction and summed over the"
            " released code's nodes.",
        ),
        (
            "error_is_u_shaped",
            CHECK,
            at_least(partial(q.ends_over_least, method="single", scheme="central"), 10, "times"),
            "Their error has its least value between the largest and the smallest step: both are at"
            " least ten times as far off.",
        ),
    )
    + claims(
        "Figure 2, left",
        (
            "solver_is_ten_times_as_fast",
            DECIDED,
            ratio(partial(q.times, methods=TRAINED), 0, 0.1).naming(
                "over Adam's net", "over SGD's net"
            ),
            "On Burgers the numerical solver reaches a relative error of 1e-2 in at most a tenth of"
            " the time to it of a net in training; of one that never does all its time is taken,"
            " which is less than it needs.",
        ),
        (
            "adam_error_falls",
            DECIDED,
            monotone(
                partial(q.from_last, method="pinn_adam", steps=STEPS), "relative L2 error"
            ).naming(*PAIRS),
            "The error of a net in training by Adam falls from each of 100, 200, 500 ... 5,000"
            " steps to the next.",
        ),
        (
            "sgd_is_worse",
            DECIDED,
            ratio(
                partial(q.pairs_at, method="pinn_sgd", other="pinn_adam", steps=STEPS[1:]), 1, inf
            ).naming(*(f"{steps} steps" for steps in STEPS[1:])),
            "From 200 steps on SGD leaves a net in training a larger error than Adam does.",
        ),
    )
    + claims(
        "Figure 2, right",
        *(
            (
                f"{pde}_{word}",
                DECIDED,
                at_most(
                    partial(q.error, pde=pde, method="single", column=column), 1e-2, "relative"
                ),
                f"From 64 observations (FG)²U-ZO through the numerical solver finds the {word} of"
                f" {name} to a relative error of at most 1e-2.",
            )
            for pde, name in PDE_NAMES.items()
            for word, column in (("coefficient", "eps_phi"), ("solution", "eps_u"))
        ),
        *(
            (
                f"{pde}_below_the_net",
                DECIDED,
                ratio(partial(q.against, pde=pde, method="single", other="pinn"), 0, 1).naming(
                    "coefficient", "solution"
                ),
                f"Both errors of {name} are below those of (FG)²U through the training of a PINN,"
                " at equal outer steps.",
            )
            for pde, name in PDE_NAMES.items()
        ),
    )
    + claims(
        "ours, beside Figure 2, right",
        (
            "twenty_five_observations_do",
            DECIDED.at("cpu").asked_by_us(),
            at_most(
                partial(
                    q.errors, pde="burgers", method="single", columns=("eps_phi", "eps_u"),
                    num_observed=25,
                ),
                1e-2,
                "relative",
            ).naming("coefficient", "solution"),
            "On Burgers 25 observations do for (FG)²U-ZO, by the same bound.",
        ),
        (
            "released_quadrature_does",
            DECIDED.at("cpu").asked_by_us(),
            at_most(
                partial(q.by_pde, pdes=tuple(PDE_NAMES), method="quadrature", column="eps_phi"),
                1e-2,
                "relative",
            ).naming(*PDE_NAMES.values()),
            "(FG)²U-ZO as released, by twelve nodes and differences of the solution, finds"
            " every coefficient to 1e-2.",
        ),
    ),
    layout=LAYOUT,
    figure="figures:coefficient_panels",
    caption="Left: relative L2 error of Burgers' solution at the true coefficient against seconds:"
    " a net trained by Adam and by SGD, and a Fourier solver on four grids; at `cpu` one training"
    " goes on to 50,000 steps. Centre and right: relative errors of the coefficient, and of the"
    " solution at it, after the descent from 64 observations. Filled: ours, mean over seeds with"
    " its standard error; hollow: the paper's, whose seconds are those of a GPU.",
    alt="Three panels on log axes: errors that fall with seconds, the numerical solver's far to the"
    " left of both nets'; dots of the coefficient's and the solution's error by equation and"
    " method, those through a net far above the others.",
)  # fmt: skip
