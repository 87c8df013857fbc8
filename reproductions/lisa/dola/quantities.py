"""What the claims on DoLa measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, pick

if TYPE_CHECKING:
    import pandas as pd


def lead_under_dola(table: pd.DataFrame, *, questions: str, value: str) -> float:
    """Return LISA's share of right answers minus the untuned model's, both decoded by DoLa.

    Raises InvalidQuantity where the untuned model has none: whatever was tuned is ahead of it.
    """
    rows = pick(table, questions=questions, decoding="dola")
    lisa, vanilla = (
        float(pick(rows, weights=weights)[value].astype(float).mean())
        for weights in ("lisa", "vanilla")
    )
    if vanilla == 0.0:
        raise InvalidQuantity("the untuned model solves nothing, so any tuning is ahead of it")
    return lisa - vanilla
