"""Tables of valleys: a row per point of a curve."""

from __future__ import annotations

from collections.abc import Collection

from harness.declare import Table, columns_of, param
from reproductions.asymvalley.models.columns import (
    DRAW,
    LAMBDA,
    MEASURED,
    PAIR,
    SEED,
    SIGN_CONSISTENT,
    S,
    rows_where,
)
from reproductions.asymvalley.valleys.experiment import (
    DirectionCurves,
    GroupCurves,
    NoiseCurves,
    common_noises,
    group_noises,
    sign_ratios,
    special_directions,
)

NOISE = columns_of(NoiseCurves, "noise")
DIRECTION = columns_of(DirectionCurves, "direction")
GROUP = columns_of(GroupCurves, "group")
NOISE_SEED = columns_of(GroupCurves, "seed")
RATIO = param(
    "ratio",
    float,
    "Share of coordinates whose noise got the sign of its weight; the others stay random.",
)
CURVE = (LAMBDA, SEED, *MEASURED)


def noises(pair: str) -> Table:
    """Return the curves along seven noises around one net."""
    row = (PAIR, *NOISE, SIGN_CONSISTENT, S, DRAW)
    return rows_where(common_noises, row, CURVE, pair=(pair,))


def directions(*pairs: str) -> Table:
    """Return the curves along six directions around some nets."""
    return rows_where(special_directions, (PAIR, *DIRECTION, S), CURVE, pair=pairs)


def ratios(pairs: Collection[str]) -> Table:
    """Return the curves along noise with a growing share of the weights' signs."""
    return rows_where(sign_ratios, (PAIR, RATIO, DRAW), CURVE, pair=pairs)


def groups(pair: str) -> Table:
    """Return the curves along noise in one group of a net's parameters."""
    row = (PAIR, *GROUP, SIGN_CONSISTENT, DRAW, LAMBDA, *NOISE_SEED)
    return rows_where(group_noises, row, MEASURED, pair=(pair,))
