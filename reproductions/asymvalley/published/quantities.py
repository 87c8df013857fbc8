"""What the claims on published nets measure.

Every function takes the table of one draw, unless it says "whole table". An asymmetry is the mean
over lambda < 0 minus that over lambda > 0. No torch, no pandas at import.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick
from reproductions.asymvalley.method.directions import NOISES, ZERO_SYMMETRIC, Noise
from reproductions.asymvalley.models.curves import AT_ZERO, asymmetry, share_of, sides, spearman
from reproductions.asymvalley.published.experiment import ALL_KINDS, DEPTHS

if TYPE_CHECKING:
    import pandas as pd

INSIDE = 1.0 - 1e-6
RAW, CONSISTENT = 0.0, 1.0
Kinds = tuple[tuple[int, Noise], ...]
DEEPER: Kinds = tuple((depth, NOISES[0]) for depth in DEPTHS if depth != ALL_KINDS)
NETS_AND_KINDS: Kinds = (*((ALL_KINDS, kind) for kind in NOISES), *DEEPER)
"""Every net with every kind of its noises."""
SYMMETRIC_KINDS: Kinds = (*((ALL_KINDS, kind) for kind in ZERO_SYMMETRIC), *DEEPER)


def noise_asymmetry(
    table: pd.DataFrame, depth: int, kind: str, *, ratio: float, value: str = "error"
) -> float:
    """Return the asymmetry along one noise of which a share of the signs agree."""
    return asymmetry(pick(table, depth=depth, along=kind, ratio=ratio), value=value)


def sign_asymmetries(table: pd.DataFrame, *, value: str = "error") -> list[float]:
    """Return the asymmetry along sign-consistent noise of each net and kind."""
    return [
        noise_asymmetry(table, depth, kind, ratio=CONSISTENT, value=value)
        for depth, kind in NETS_AND_KINDS
    ]


def raw_shares(table: pd.DataFrame) -> list[float]:
    """Return raw noise's asymmetry over that of its sign-consistent row, with its sign.

    Infinite where the latter is not positive: then no share is small.
    """
    shares = []
    for depth, kind in SYMMETRIC_KINDS:
        whole = noise_asymmetry(table, depth, kind, ratio=CONSISTENT)
        raw = noise_asymmetry(table, depth, kind, ratio=RAW)
        shares.append(raw / whole if whole > 0.0 else math.inf)
    return shares


def ratio_spearmans(table: pd.DataFrame, *, side: str) -> list[float]:
    """Return each net's rank correlation of one side's mean error with the ratio."""
    found = []
    for depth in DEPTHS:
        rows = pick(table, depth=depth, along="gaussian")
        ratios = sorted(float(ratio) for ratio in rows["ratio"].unique())
        errors = [float(getattr(sides(pick(rows, ratio=ratio)), side)) for ratio in ratios]
        found.append(spearman(ratios, errors))
    return found


def made_asymmetry(table: pd.DataFrame, depth: int, direction: str) -> float:
    """Return the asymmetry along a direction made of the weights; whole table.

    Along theta_f without both ends: at lambda = -1 all weights are zero, whatever the net was.
    """
    rows = pick(table, depth=depth, along=direction)
    return asymmetry(rows[rows["lambda"].abs() < INSIDE] if direction == "theta_f" else rows)


def made_asymmetries(table: pd.DataFrame, *, directions: Sequence[str]) -> list[float]:
    """Return the asymmetry of each net along each direction; whole table."""
    return [made_asymmetry(table, depth, name) for depth in DEPTHS for name in directions]


def made_shares(table: pd.DataFrame, *, directions: Sequence[str]) -> list[float]:
    """Return |asymmetry| along directions over that along the signs; whole table."""
    return [
        share_of(made_asymmetry(table, depth, name), made_asymmetry(table, depth, "sign"))
        for depth in DEPTHS
        for name in directions
    ]


def centre_errors(table: pd.DataFrame) -> list[float]:
    """Return each net's test error at lambda = 0."""
    found = []
    for depth in DEPTHS:
        rows = pick(table, depth=depth, along="gaussian")
        centre = rows.loc[rows["lambda"].abs() <= AT_ZERO, "error"]
        if centre.empty:
            raise MissingRows(f"the table has no curve of ResNet{depth} with lambda = 0")
        found.append(float(centre.mean()))
    return found


def excess_of_scaled(table: pd.DataFrame) -> float:
    """Return by how much any temperature-scaled cross-entropy exceeds the plain; whole table."""
    rows = table[table["ce"].notna()]
    return float((rows["scaled_ce"] - rows["ce"]).max())
