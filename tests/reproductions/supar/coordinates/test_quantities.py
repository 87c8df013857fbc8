"""Slopes of power laws, and sizes by density."""

from __future__ import annotations

import pytest

from harness.declare.statistics import InvalidQuantity
from reproductions.supar.coordinates.quantities import log_slope


def test_a_power_law_gives_its_exponent_in_any_order() -> None:
    sizes = {256.0: 3.0 * 256**-0.7, 64.0: 3.0 * 64**-0.7, 192.0: 3.0 * 192**-0.7}
    assert log_slope(sizes) == pytest.approx(-0.7)


def test_scattered_sizes_give_the_least_squares_line() -> None:
    # Through the points (0, 0), (1, 2), (2, 1): slope 1/2.
    assert log_slope({1.0: 1.0, 2.0: 4.0, 4.0: 2.0}) == pytest.approx(0.5)


@pytest.mark.parametrize("size", [0.0, float("nan"), float("inf")])
def test_a_size_without_logarithm_is_named(size: float) -> None:
    with pytest.raises(InvalidQuantity, match="the size at 128"):
        log_slope({64.0: 1.0, 128.0: size})
