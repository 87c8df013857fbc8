"""What the claims on DoLa measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import InvalidQuantity, pick

if TYPE_CHECKING:
    import pandas as pd


def lead_under_dola(table: pd.DataFrame, *, questions: str, value: str) -> float:
    """Return LISA's share of right answers minus the untuned model's, both decoded by DoLa.

    Raises InvalidQuantity where neither has any: of two that know nothing neither leads.
    """
    rows = pick(table, questions=questions, decoding="dola")
    lisa, vanilla = (
        float(pick(rows, weights=weights)[value].astype(float).mean())
        for weights in ("lisa", "vanilla")
    )
    if lisa == vanilla == 0.0:
        raise InvalidQuantity(f"no answer of either model is right, by {value}")
    return lisa - vanilla
