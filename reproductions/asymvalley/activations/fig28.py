"""Figure 28: which hidden units stay on or off under sign-consistent noise."""

from __future__ import annotations

from harness.declare import CHECK, Task, claims, equal, more_than, value
from reproductions.asymvalley.activations import quantities as q
from reproductions.asymvalley.activations.experiment import activations
from reproductions.asymvalley.models.columns import DRAW, LAMBDA, SEED, rows_where
from reproductions.asymvalley.models.scopes import ON_A_CPU, TRAINED

SHARES = (
    value("on_on", float, "Share of hidden units that are on for theta_f and for the noisy net."),
    value("on_off", float, "On for theta_f, off for the noisy net."),
    value("off_on", float, "Off for theta_f, on for the noisy net."),
    value("off_off", float, "Off for both."),
    value("agreement", float, "Share of units in the same state: on_on + off_off."),
)
UNITS = rows_where(activations, (DRAW, LAMBDA, SEED), SHARES)

task = Task(
    "asymvalley/fig28",
    reads=(activations,),
    table=UNITS,
    claims=claims(
        "Figure 28 and appendix D.2",
        (
            "shares_sum_to_one",
            CHECK,
            equal(q.farthest_sum, 1, "share", tolerance=1e-6),
            "The four shares sum to 1 at every lambda.",
        ),
        (
            "none_switches_at_centre",
            ON_A_CPU,
            equal(q.switched_at_centre, 0, "share"),
            "At lambda = 0 no unit switches.",
        ),
        (
            "units_survive_positive_noise",
            TRAINED,
            more_than(q.agreement_gains, 0, "share")
            .naming(*(f"a = {a:g}" for a in q.REACHES))
            .measuring("of units that keep their state, at +a less at -a"),
            "More hidden units keep their state on the positive side than on the negative side.",
        ),
    ),
    figure="figures:activation_panels",
    caption="Hidden units that are on or off for the trained net and for the net with"
    " sign-consistent G(0,1) noise, norm-scaled with s = 1. Above: agreement (line: mean over"
    " seeds and draws, band to the extremes) and mean shares, stacked. Below: the same shares as"
    " matrices, darker where more.",
    alt="Agreement of hidden units against lambda, a stack of the four shares of unit states, and"
    " five two-by-two matrices of these shares.",
)
