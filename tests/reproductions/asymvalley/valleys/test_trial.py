"""Noise in one group of parameters, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from reproductions.asymvalley.method.noise import draw_noise
from reproductions.asymvalley.models.curve_rows import lambdas, walk_through
from reproductions.asymvalley.models.kept_nets import generator_of, staged_net
from reproductions.asymvalley.valleys.experiment import group_grid
from reproductions.asymvalley.valleys.trial import group_rows
from tests.reproductions.asymvalley.small import Context


@pytest.mark.parametrize("group", ["clf", "bn"])
def test_group_noise_has_the_norm_of_its_group_and_one_draw_for_both_rows(group: str) -> None:
    point = next(each for each in group_grid("smoke") if each.group == group)
    params, context = replace(point, depth=8), Context()
    found = group_rows(params, context).rows  # type: ignore[arg-type]
    net = staged_net(params, "", context, generator=generator_of(0))  # type: ignore[arg-type]
    walk = walk_through(net, params, context)  # type: ignore[arg-type]
    weights_P, mask_P = walk.weights_P, walk.layout.mask(params.group)
    noise_P = draw_noise("gaussian", walk.layout.size, seed=params.seed, draw=0) * mask_P
    signed_P = noise_P.abs() * torch.where(weights_P > 0, 1.0, -1.0)
    expected = []
    for eps_P in (noise_P, signed_P):
        step_P = eps_P * (weights_P[mask_P].norm() / eps_P.norm())
        agree = float((eps_P * weights_P > 0)[mask_P].double().mean())
        for place in lambdas(params.num_points):
            expected.append((place, walk.at(weights_P + place * step_P).ce, agree))
    assert len(found) == len(expected) == 6
    for row, (place, ce, agree) in zip(found, expected, strict=True):
        assert (row["lambda"], row["sign_consistency"]) == (place, agree)
        assert row["ce"] == pytest.approx(ce, rel=1e-5)
