"""What the claims on starts of batch normalisation measure.

Every function takes the table of one seed. AS is the mean test error over lambda < 0 minus that
over lambda > 0, over all draws of a noise. No torch, no pandas at import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.declare import pick
from reproductions.asymvalley.models.curves import asymmetry, share_of

if TYPE_CHECKING:
    import pandas as pd


# --- initial BN weights (Figures 7, 21, 22) ---


def bn_asymmetries(table: pd.DataFrame, *, starts: Sequence[str]) -> list[float]:
    """Return AS of several starts under {0,1} noise on the BN weights alone, norm-scaled, s = 1."""
    rows = _at_width(pick(table, part="curve", norm="ns", group="bn"), 1.0)
    return [asymmetry(pick(rows, bn_start=start)) for start in starts]


def bn_asymmetry_shares(table: pd.DataFrame, *, start: str, others: Sequence[str]) -> list[float]:
    """Return abs(AS) of a start over AS of each of the others, noise on the BN weights alone."""
    own, *wholes = bn_asymmetries(table, starts=(start, *others))
    return [share_of(own, whole) for whole in wholes]


def filter_gains(table: pd.DataFrame, *, starts: Sequence[str]) -> list[float]:
    """Return AS of each start less that of G(0,0.1), filter-normalized noise, smallest s."""
    rows = pick(table, part="curve", norm="filter_ns", group="all")
    rows = _at_width(rows, float(rows["s"].min()))
    gaussian, *found = (asymmetry(pick(rows, bn_start=one)) for one in ("gaussian", *starts))
    return [own - gaussian for own in found]


def _at_width(rows: pd.DataFrame, s: float) -> pd.DataFrame:
    return pick(rows, s=s).rename(columns={"x": "lambda"})
