"""Table of hidden units: a row per draw and lambda."""

from __future__ import annotations

from harness.declare import value
from reproductions.asymvalley.activations.experiment import activations
from reproductions.asymvalley.models.columns import DRAW, LAMBDA, SEED, rows_where

SHARES = (
    value("on_on", float, "Share of hidden units that are on for theta_f and for the noisy net."),
    value("on_off", float, "On for theta_f, off for the noisy net."),
    value("off_on", float, "Off for theta_f, on for the noisy net."),
    value("off_off", float, "Off for both."),
    value("agreement", float, "Share of units in the same state: on_on + off_off."),
)
UNITS = rows_where(activations, (DRAW, LAMBDA, SEED), SHARES)
