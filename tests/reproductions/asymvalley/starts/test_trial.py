"""Noise on the weights of batch normalisation alone, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.noise import draw_noise
from reproductions.asymvalley.models.curve_rows import lambdas
from reproductions.asymvalley.starts.trial import _curves
from tests.reproductions.asymvalley.small import small_data, small_net

PARAMS: Any = SimpleNamespace(seed=3, num_points=3)


def test_noise_on_batch_norm_has_the_norm_of_its_weights_and_moves_them_alone() -> None:
    walk = Walk(small_net(), small_data(), bn_stats="recalibrate")
    found = _curves(walk, PARAMS, "ns", "bn", 2.0, 2)
    weights_P, mask_P = walk.weights_P, walk.layout.mask("bn_weight")
    assert int(mask_P.sum()) == 4 + 6
    expected = []
    for draw in range(2):
        eps_P = draw_noise("binary", walk.layout.size, seed=3, draw=draw) * mask_P
        step_P = 2.0 * eps_P * (weights_P[mask_P].norm() / eps_P.norm())
        for place in lambdas(3):
            expected.append((draw, place, walk.at(weights_P + place * step_P).ce))
    assert len(found) == len(expected)
    for row, (draw, place, ce) in zip(found, expected, strict=True):
        assert (row["draw"], row["x"]) == (draw, place)
        assert row["ce"] == pytest.approx(ce, rel=1e-5)
