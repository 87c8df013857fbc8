"""Claims on a quoted gain: the same strategy is the faster one by formula."""

from __future__ import annotations

from functools import partial

from harness.declare import Criterion, Scope, more_than
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.paper_values import quoted_ratio
from reproductions.paro.predictions.scopes import SET

LETTERS = {"ZeRO-1": "NNG", "ZeRO-2": "NGG", "ZeRO-3": "GGG"}


def faster(
    id: str, strategy: str, baseline: str, where: q.Where, settings: str
) -> tuple[str, Scope, Criterion, str]:
    """Return the claim that a strategy is faster than a ZeRO stage, beside the quoted gain.

    settings: the model and what of it trains, in words.
    """
    criterion = more_than(
        partial(
            q.speed_ratio, one=strategy, over=LETTERS[baseline], where={"world": "flat", **where}
        ),
        1,
        "times the speed",
    ).beside_derived(partial(quoted_ratio, series=f"{where['model']} {strategy}", over=baseline))
    return id, SET, criterion, f"{settings}: {strategy} is faster than {baseline}."
