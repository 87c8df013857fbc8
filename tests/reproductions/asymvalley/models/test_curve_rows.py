"""Rows of curves: raw and sign-consistent ones are of one draw."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.noise import draw_noise
from reproductions.asymvalley.models.curve_rows import both_rows, lambdas
from tests.reproductions.asymvalley.small import small_data, small_net

PARAMS: Any = SimpleNamespace(seed=3, num_points=3)


def test_raw_and_sign_consistent_rows_are_of_one_draw() -> None:
    walk = Walk(small_net(), small_data(), bn_stats="recalibrate")
    found = both_rows(walk, PARAMS, "gaussian", draw=1, scale=0.5, labels={"s": 0.5})
    noise_P = draw_noise("gaussian", walk.layout.size, seed=3, draw=1)
    signed_P = noise_P.abs() * torch.where(walk.weights_P > 0, 1.0, -1.0)
    expected = []
    for consistent, eps_P in ((False, noise_P), (True, signed_P)):
        curve = walk.curve(walk.step(eps_P, scale=0.5, norm="ns"), lambdas(3))
        share = float((eps_P * walk.weights_P > 0).double().mean())
        for place, point in zip(curve.lambdas, curve.points, strict=True):
            named = {"s": 0.5, "sign_consistent": consistent, "draw": 1, "lambda": place}
            expected.append({**named, "error": point.error, "ce": point.ce})
            expected[-1]["sign_consistency"] = share
    assert found == expected
    assert found[0]["ce"] != found[3]["ce"]
