"""Figure 28: which hidden units stay on or off under sign-consistent noise."""

from __future__ import annotations

from harness.declare import CHECK, Frame, MissingRows, Task, claims, equal, more_than, value
from reproductions.asymvalley.activations.experiment import PAIR, SHARES, activations
from reproductions.asymvalley.models.columns import DRAW, LAMBDA, SEED, rows_where
from reproductions.asymvalley.models.controls import ON_A_CPU, TRAINED, at_centre, errors_of
from reproductions.asymvalley.models.curves import AT_ZERO, centres
from reproductions.asymvalley.models.pairs import paper_name

STATES = (
    value("error", float, "Share of wrong test predictions."),
    value("on_on", float, "Share of hidden units that are on for theta_f and for the noisy net."),
    value("on_off", float, "On for theta_f, off for the noisy net."),
    value("off_on", float, "Off for theta_f, on for the noisy net."),
    value("off_off", float, "Off for both."),
    value("agreement", float, "Share of units in the same state: on_on + off_off."),
)
UNITS = rows_where(activations, (DRAW, LAMBDA, SEED), STATES)
REACHES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Figure 28's a."""


def agreement_gains(table: Frame) -> list[float]:
    """Return the agreement at +a less that at -a, for each a."""
    return [_agreement(table, a) - _agreement(table, -a) for a in REACHES]


def _agreement(table: Frame, place: float) -> float:
    rows = table[(table["lambda"] - place).abs() <= AT_ZERO]
    if rows.empty:
        raise MissingRows(f"the table has no activations at lambda = {place:g}")
    return float(rows["agreement"].mean())


def farthest_sum(table: Frame) -> float:
    """Return the sum of the four shares that is farthest from 1; whole table."""
    sums = table[list(SHARES)].sum(axis=1)
    if sums.empty:
        raise MissingRows("the table has no activations")
    return max(map(float, sums), key=lambda total: abs(total - 1.0))


def switched_at_centre(table: Frame) -> float:
    """Return the largest share of units that switch at lambda = 0; whole table."""
    centre = centres(table)
    return float((centre["on_off"] + centre["off_on"]).max())


task = Task(
    "asymvalley/fig28",
    reads=(activations,),
    table=UNITS,
    claims=claims(
        "Figure 28 and appendix D.2",
        (
            "shares_sum_to_one",
            CHECK,
            equal(farthest_sum, 1, "share", tolerance=1e-6),
            "The four shares sum to 1 at every lambda.",
        ),
        (
            "none_switches_at_centre",
            ON_A_CPU,
            equal(switched_at_centre, 0, "share"),
            "At lambda = 0 no unit switches.",
        ),
        (
            "units_survive_positive_noise",
            at_centre(TRAINED, PAIR),
            more_than(agreement_gains, 0, "share")
            .naming(*(f"a = {a:g}" for a in REACHES))
            .measuring("of units that keep their state, at +a less at -a"),
            "More hidden units keep their state on the positive side than on the negative side.",
        ),
    ),
    layout=errors_of({paper_name(PAIR): {}}, draw=0),
    figure="figures:activation_panels",
    caption="Hidden units that are on or off for the trained net and for the net with"
    " sign-consistent G(0,1) noise, norm-scaled with s = 1. Above: agreement (line: mean over"
    " seeds and draws, band to the extremes) and mean shares, stacked. Below: the same shares as"
    " matrices, darker where more.",
    alt="Agreement of hidden units against lambda, a stack of the four shares of unit states, and"
    " five two-by-two matrices of these shares.",
)
