"""The simulated ReLU unit against closed forms and plain loops."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
import torch

from reproductions.asymvalley.toys.relu_unit import (
    UnitDraws,
    density,
    draw_unit,
    expected_pre_activation,
    pre_activation,
    summary,
)


def unit(*, num_draws: int = 20_000, seed: int = 0) -> UnitDraws:
    generator = torch.Generator().manual_seed(seed)
    return draw_unit(num_inputs=32, num_draws=num_draws, pull=0.1, generator=generator)


@pytest.mark.parametrize("size", [-1.0, -0.5, 0.0, 0.5, 1.0])
def test_sampled_mean_is_the_closed_form(size: float) -> None:
    drawn = unit()
    found = summary(pre_activation(drawn, size))
    normal = NormalDist()
    expected = sum(
        h * (drawn.pull * h + size * (2.0 * normal.cdf(drawn.pull * h) - 1.0))
        for h in drawn.input_D.tolist()
    )
    assert expected_pre_activation(drawn, size) == pytest.approx(expected)
    assert abs(found["mean"] - expected) < 4.5 * found["standard_error"]


def test_pre_activation_is_that_of_the_moved_weight() -> None:
    generator = torch.Generator().manual_seed(3)
    drawn = draw_unit(num_inputs=5, num_draws=7, pull=0.3, generator=generator)
    again = torch.Generator().manual_seed(3)
    h = torch.randn(5, generator=again, dtype=torch.float64).tolist()
    delta = torch.randn(7, 5, generator=again, dtype=torch.float64).tolist()
    for row, found in zip(delta, pre_activation(drawn, -0.7).tolist(), strict=True):
        weights = [0.3 * x + d for x, d in zip(h, row, strict=True)]
        moved = [w - 0.7 * (1.0 if w > 0 else -1.0) for w in weights]
        assert found == pytest.approx(sum(w * x for w, x in zip(moved, h, strict=True)))


def test_density_is_the_normal_one_and_covers_everything() -> None:
    drawn = unit(num_draws=50_000)
    values = pre_activation(drawn, 0.0)
    heights = density(values, low=-80.0, width=4.0, num_bins=50)
    assert sum(heights) * 4.0 == pytest.approx(1.0)
    mean = drawn.pull * float(drawn.input_D.square().sum())
    normal = NormalDist(mean, math.sqrt(float(drawn.input_D.square().sum())))
    for index, height in enumerate(heights):
        left = -80.0 + 4.0 * index
        share = normal.cdf(left + 4.0) - normal.cdf(left)
        assert height * 4.0 == pytest.approx(share, abs=0.01), left
