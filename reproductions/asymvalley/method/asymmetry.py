"""How asymmetric a valley is: mean errors of both sides, and their difference.

The paper gives the two means (Figure 4); the differences are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import SpecError


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """Mean of a curve on both sides of lambda = 0, which itself is in neither."""

    plus: float
    """Mean over lambda > 0."""
    minus: float
    """Mean over lambda < 0."""

    @property
    def asymmetry(self) -> float:
        """AS: minus - plus; positive where the positive side is the flatter one."""
        return self.minus - self.plus


def sides(lambdas: Sequence[float], values: Sequence[float]) -> Sides:
    """Return the means of both sides of a curve.

    Raises SpecError where a side has no point.

    >>> sides([-1.0, 0.0, 1.0], [0.9, 0.1, 0.3]).asymmetry
    0.6000000000000001
    """
    pairs = list(zip(lambdas, values, strict=True))
    plus = [value for place, value in pairs if place > 0]
    minus = [value for place, value in pairs if place < 0]
    if not plus or not minus:
        raise SpecError("a curve needs points on both sides of lambda = 0")
    return Sides(plus=math.fsum(plus) / len(plus), minus=math.fsum(minus) / len(minus))
