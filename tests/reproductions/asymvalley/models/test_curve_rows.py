"""Rows of curves: raw and sign-consistent ones are of one draw."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.directions import Group
from reproductions.asymvalley.method.noise import draw_noise
from reproductions.asymvalley.models.curve_rows import lambdas, noise_rows
from tests.reproductions.asymvalley.small import small_data, small_net

PARAMS: Any = SimpleNamespace(seed=3, num_points=3)


@pytest.mark.parametrize("group", ["all", "clf", "bn"])
def test_raw_and_sign_consistent_rows_are_of_one_draw_with_the_norm_of_their_group(
    group: Group,
) -> None:
    walk = Walk(small_net(), small_data(), bn_stats="recalibrate")
    rows = noise_rows(walk, PARAMS, "gaussian", draws=2, scale=0.5, s=0.5, group=group)
    found = [row for row in rows if row["draw"] == 1]
    weights_P, mask_P = walk.weights_P, walk.layout.mask(group)
    noise_P = draw_noise("gaussian", walk.layout.size, seed=3, draw=1) * mask_P
    signed_P = noise_P.abs() * torch.where(weights_P > 0, 1.0, -1.0)
    expected = []
    for consistent, eps_P in ((False, noise_P), (True, signed_P)):
        step_P = 0.5 * eps_P * (weights_P[mask_P].norm() / eps_P.norm())
        share = float((eps_P * weights_P > 0)[mask_P].double().mean())
        for place in lambdas(3):
            point = walk.at(weights_P + place * step_P)
            named = {"s": 0.5, "sign_consistent": consistent, "draw": 1, "lambda": place}
            named |= {"error": point.error, "sign_consistency": share}
            expected.append({**named, "ce": pytest.approx(point.ce, rel=1e-5)})
    assert found == expected
    assert found[0]["ce"] != found[3]["ce"]
