"""How a size grows with width or density: the exponent of a power law. No torch, no pandas."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

from harness.declare import InvalidQuantity


def log_slope(sizes: Mapping[float, float]) -> float:
    """Return the least-squares slope of log2 size against log2 of what it is keyed by.

    Raises InvalidQuantity for fewer than two sizes, and for one that is not positive and finite.

    >>> log_slope({64: 1.0, 128: 2.0, 256: 4.0})
    1.0
    """
    if len(sizes) < 2:
        raise InvalidQuantity(f"{len(sizes)} size(s): a slope needs at least two")
    for place, size in sizes.items():
        if not (math.isfinite(size) and size > 0.0):
            raise InvalidQuantity(f"the size at {place:g} is {size:g}: it has no logarithm")
    places = [math.log2(place) for place in sizes]
    return statistics.linear_regression(places, [math.log2(s) for s in sizes.values()]).slope
