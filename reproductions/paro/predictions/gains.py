"""Claims on a quoted gain: the same strategy is the faster one by formula."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare import Criterion, Scope, more_than, pick
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import ONE_RING, QUOTED, SHARED
from reproductions.paro.predictions.layouts import BASELINES
from reproductions.paro.predictions.scopes import FORMULA, SET

if TYPE_CHECKING:
    import pandas as pd

LETTERS = {stage: letters for letters, stage in BASELINES.items()}


def quoted_ratio(reference: pd.DataFrame, *, series: str, over: str) -> float:
    """Return a gain in percent as the ratio of speeds that section 4.3's wording makes of it."""
    (row,) = pick(reference, series=series, y_name=f"throughput_gain_over_{over}").to_dict(
        "records"
    )
    return 1.0 + float(row["value"]) / 100.0


def faster(
    id: str, strategy: str, baseline: str, where: q.Where, settings: str
) -> tuple[str, Scope, Criterion, str]:
    """Return the check that a strategy is faster than a ZeRO stage, beside the quoted gain.

    settings: the model and what of it trains, in words.
    """
    criterion = more_than(
        partial(q.speed_ratio, one=strategy, over=LETTERS[baseline], where={**ONE_RING, **where}),
        1,
        "times the speed",
    ).beside_derived(partial(quoted_ratio, series=f"{where['model']} {strategy}", over=baseline))
    statement = f"{settings}: by communication alone {strategy} is faster than {baseline}."
    return id, SET, criterion, statement


def faster_shared(trainable: str) -> tuple[str, Scope, Criterion, str]:
    """Return our question whether all quoted gains at a share are above 1 with a shared link."""
    gains = [gain for gain in QUOTED if gain.trainable == trainable]
    criterion = more_than(
        partial(
            q.speed_ratios,
            pairs=tuple((gain.model, gain.strategy, gain.baseline) for gain in gains),
            where=SHARED,
        ),
        1,
        "times the speed",
    ).naming(*(f"{g.model} {g.strategy} over {BASELINES[g.baseline]}" for g in gains))
    return (
        "faster_with_a_shared_link",
        FORMULA.asked_by_us(),
        criterion,
        "Where the GPUs of a group share one link between groups, too, each strategy with a quoted"
        " gain is by communication alone faster than its baseline.",
    )
