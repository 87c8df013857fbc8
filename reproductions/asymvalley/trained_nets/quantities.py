"""What the claim on every trained net measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import MissingRows

if TYPE_CHECKING:
    import pandas as pd


def cosines(table: pd.DataFrame) -> list[float]:
    """Return cos(sign(theta_f), gradient) of every trained net.

    A net whose training diverged has none, which leaves the claim undecided.
    """
    if table.empty:
        raise MissingRows("the table has no trained net")
    named = table.sort_values(["pair", "recipe", "bn_start"])
    return [float(cosine) for cosine in named["sign_gradient_cosine"]]
