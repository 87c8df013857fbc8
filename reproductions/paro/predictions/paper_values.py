"""The paper's numbers for claims on speed: quoted gains, as ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import pick

if TYPE_CHECKING:
    import pandas as pd


def quoted_ratio(reference: pd.DataFrame, *, series: str, over: str) -> float:
    """Return a gain in percent as the ratio of speeds that section 4.3's wording makes of it."""
    (row,) = pick(reference, series=series, y_name=f"throughput_gain_over_{over}").to_dict(
        "records"
    )
    return 1.0 + float(row["value"]) / 100.0
