"""What the claim on every trained net measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import MissingRows

if TYPE_CHECKING:
    import pandas as pd


def largest_cosine(table: pd.DataFrame) -> float:
    """Return the largest abs(cos(sign(theta_f), gradient)) over the trained nets.

    A net whose training diverged has none.
    """
    sizes = table["sign_gradient_cosine"].abs().dropna()
    if sizes.empty:
        raise MissingRows("the table has no trained net")
    return float(sizes.max())
