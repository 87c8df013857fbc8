"""Noises and special directions."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from reproductions.asymvalley.method.directions import DIRECTIONS, NOISES, Noise
from reproductions.asymvalley.method.layout import layout_of, parameters_vector, same_sign_ratio
from reproductions.asymvalley.method.noise import (
    draw_noise,
    partly_consistent,
    sgp,
    sign,
    sign_consistent,
    special_direction,
)
from tests.reproductions.asymvalley.small import small_net

SIZE = 200_000
MOMENTS: dict[Noise, tuple[float, float]] = {
    "gaussian": (0.0, 1.0),
    "uniform": (0.0, 1 / 3),
    "ternary": (0.0, 2 / 3),
    "gaussian_mean1": (1.0, 1.0),
    "uniform01": (0.5, 1 / 12),
    "binary": (0.5, 1 / 4),
    "ones": (1.0, 0.0),
}
"""Mean and variance of each kind, in closed form."""


@pytest.mark.parametrize("kind", NOISES)
def test_noise_has_its_mean_and_variance(kind: Noise) -> None:
    noise = draw_noise(kind, SIZE, seed=0, draw=0).double()
    mean, variance = MOMENTS[kind]
    # Five standard errors; the fourth moment of all kinds is at most 10.
    bound = 5.0 * math.sqrt(10.0 / SIZE)
    assert float(noise.mean()) == pytest.approx(mean, abs=bound)
    assert float(noise.var(unbiased=False)) == pytest.approx(variance, abs=bound)


def test_a_draw_follows_from_seed_kind_and_number() -> None:
    one = draw_noise("gaussian", 50, seed=0, draw=0)
    torch.manual_seed(5)
    assert torch.equal(one, draw_noise("gaussian", 50, seed=0, draw=0))
    for other in (
        draw_noise("gaussian", 50, seed=1, draw=0),
        draw_noise("gaussian", 50, seed=0, draw=1),
        draw_noise("gaussian_mean1", 50, seed=0, draw=0) - 1.0,
    ):
        assert not torch.allclose(one, other)


def test_zero_has_a_negative_sign() -> None:
    values = torch.tensor([2.0, 0.0, -0.0, -3.0])
    assert sign(values).tolist() == [1, -1, -1, -1]
    assert sgp(values).tolist() == [1, 0, 0, 0]


def test_consistent_noise_keeps_sizes_and_takes_signs() -> None:
    weights = torch.randn(500, generator=torch.Generator().manual_seed(0))
    noise = draw_noise("gaussian", 500, seed=0, draw=0)
    consistent = sign_consistent(noise, weights)
    assert torch.equal(consistent.abs(), noise.abs())
    assert same_sign_ratio(consistent, weights) == 1.0


def test_changed_coordinates_are_nested_and_as_many_as_asked() -> None:
    generator = torch.Generator().manual_seed(0)
    weights, uniform = torch.randn(SIZE, generator=generator), torch.rand(SIZE, generator=generator)
    noise = draw_noise("gaussian", SIZE, seed=0, draw=0)
    agreeing = []
    for ratio in (0.0, 0.3, 0.7, 1.0):
        partly = partly_consistent(noise, weights, uniform, ratio)
        assert torch.equal(partly.abs(), noise.abs())
        agrees = partly * weights > 0
        assert float(agrees.double().mean()) == pytest.approx(0.5 + ratio / 2, abs=0.006)
        agreeing.append(agrees)
    for fewer, more in itertools.pairwise(agreeing):
        assert bool((fewer <= more).all())
    assert torch.equal(partly_consistent(noise, weights, uniform, 0.0), noise)
    assert torch.equal(
        partly_consistent(noise, weights, uniform, 1.0), sign_consistent(noise, weights)
    )


def test_special_directions_by_their_definitions() -> None:
    model, other = small_net(seed=0), small_net(seed=1)
    layout = layout_of(model)
    weights, initial = parameters_vector(model), parameters_vector(other)
    centred = torch.cat([(p - p.mean()).detach().reshape(-1) for p in model.parameters()])
    expected = {
        "theta_0": initial,
        "theta_f": weights,
        "sign": (weights > 0) * 2.0 - 1.0,
        "sign_centred": (centred > 0) * 2.0 - 1.0,
        "sgp": (weights > 0) * 1.0,
        "sgp_centred": (centred > 0) * 1.0,
    }
    for name in DIRECTIONS:
        found = special_direction(name, weights, initial, layout)
        assert torch.equal(found, expected[name]), name
        assert found.data_ptr() not in (weights.data_ptr(), initial.data_ptr())
