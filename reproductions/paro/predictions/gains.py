"""Checks on quoted gains: the same strategy is the faster one by formula."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare import Criterion, more_than, pick
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING

if TYPE_CHECKING:
    import pandas as pd


def quoted_ratio(reference: pd.DataFrame, *, series: str, over: str) -> float:
    """Return a gain in percent as the ratio of speeds that section 4.3's wording makes of it."""
    (row,) = pick(reference, series=series, y_name=f"throughput_gain_over_{over}").to_dict(
        "records"
    )
    return 1.0 + float(row["value"]) / 100.0


def faster(*pairs: tuple[str, str, str]) -> Criterion:
    """Ask that in every (model, strategy, other) the first is the faster one."""
    ratios = partial(q.speed_ratios, pairs=pairs, where=ONE_RING)
    return more_than(ratios, 1, "times the speed").naming(
        *(f"{model} {one} over {other}" for model, one, other in pairs)
    )
