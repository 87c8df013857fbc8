"""Tables of starts and of statistics: a row per point of a curve, or per quantile of weights."""

from __future__ import annotations

from collections.abc import Collection

from harness.declare import Table, columns_of, param, value
from reproductions.asymvalley.models.columns import (
    CE,
    DRAW,
    ERROR,
    LAMBDA,
    PAIR,
    SEED,
    SIGN_CONSISTENT,
    rows_where,
)
from reproductions.asymvalley.models.pairs import Training
from reproductions.asymvalley.starts.experiment import batch_norm_starts, frozen_statistics

PART = (
    param(
        "part",
        str,
        "curve (a valley), quantile (of all BN weights), share (of positive BN weights).",
    ),
    param(
        "norm",
        str,
        "Scaling of a curve's noise: ns (one factor for the whole noise) or filter_ns (one per"
        " filter, the weight's own size where there is no filter); else empty.",
    ),
    param(
        "group",
        str,
        "Parameters that get a curve's noise: all or bn (BN weights alone); else empty.",
    ),
    param("s", float, "Width factor of a curve; else 0."),
    param("draw", int, "Draw of a curve's noise; else 0."),
    param("x", float, "A curve's lambda, in [-1, 1]; a quantile's place, in [0, 1]; else 0."),
)
FOUND = (
    value("error", float, "Share of wrong test predictions; empty unless a curve.", nullable=True),
    CE,
    value("bn_weight", float, "A quantile, or the share; empty for a curve.", nullable=True),
)
BN_STATS = param(
    "bn_stats",
    str,
    "BN statistics at each point: recalibrate (estimated anew) or frozen (those of training).",
)


def starts(pair: str) -> Table:
    """Return the weights and the curves of three starts around one net."""
    start = columns_of(Training, "bn_start")
    return rows_where(batch_norm_starts, start, PART, SEED, FOUND, pair=(pair,))


def statistics(pairs: Collection[str]) -> Table:
    """Return the curves with both kinds of statistics around some nets."""
    row = (PAIR, BN_STATS, SIGN_CONSISTENT, DRAW, LAMBDA, SEED)
    return rows_where(frozen_statistics, row, (ERROR, CE), pair=pairs)
