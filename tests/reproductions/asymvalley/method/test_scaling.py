"""Raw, filter-norm-scaled and norm-scaled directions."""

from __future__ import annotations

import pytest
import torch

from harness.errors import SpecError
from reproductions.asymvalley.method.directions import Norm
from reproductions.asymvalley.method.layout import layout_of, parameters_vector
from reproductions.asymvalley.method.noise import draw_noise
from reproductions.asymvalley.method.scaling import scale_direction
from tests.reproductions.asymvalley.small import small_net

MODEL = small_net()
LAYOUT = layout_of(MODEL)
WEIGHTS = parameters_vector(MODEL)
NOISE = draw_noise("gaussian", LAYOUT.size, seed=0, draw=0)


def cosine(one: torch.Tensor, other: torch.Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(one.double(), other.double(), dim=0))


def test_norm_scaling_has_the_weights_norm_and_the_noise_s_direction() -> None:
    scaled = scale_direction(NOISE, WEIGHTS, norm="ns", layout=LAYOUT)
    assert float(scaled.double().norm()) == pytest.approx(float(WEIGHTS.double().norm()), rel=1e-6)
    assert cosine(scaled, NOISE) > 1.0 - 1e-12


def test_norm_scaling_of_a_group_has_the_group_s_norm() -> None:
    mask = LAYOUT.mask("conv")
    scaled = scale_direction(NOISE * mask, WEIGHTS, norm="ns", layout=LAYOUT, mask_P=mask)
    wanted = float(WEIGHTS[mask].double().norm())
    assert float(scaled.double().norm()) == pytest.approx(wanted, rel=1e-6)
    assert not scaled[~mask].any()


def test_filter_scaling_gives_each_filter_its_weight_s_norm() -> None:
    scaled = LAYOUT.split(scale_direction(NOISE, WEIGHTS, norm="filter_ns", layout=LAYOUT))
    noise = LAYOUT.split(NOISE)
    for name, parameter in MODEL.named_parameters():
        if parameter.dim() < 2:
            continue
        for row, weight, drawn in zip(scaled[name], parameter.detach(), noise[name], strict=True):
            assert float(row.norm()) == pytest.approx(float(weight.norm()), rel=1e-5), name
            assert cosine(row.reshape(-1), drawn.reshape(-1)) > 1.0 - 1e-6
    assert cosine(torch.cat([v.reshape(-1) for v in scaled.values()]), NOISE) < 1.0 - 1e-3


@pytest.mark.parametrize("rule", ["abs", "skip", "copy"])
def test_tensors_of_one_axis_follow_their_rule(rule: str) -> None:
    scaled = LAYOUT.split(
        scale_direction(NOISE, WEIGHTS, norm="filter_ns", layout=LAYOUT, one_dim_rule=rule)  # type: ignore[arg-type]
    )
    noise = LAYOUT.split(NOISE)
    for name, parameter in MODEL.named_parameters():
        if parameter.dim() == 1:
            weight = parameter.detach()
            expected = {"abs": noise[name] * weight.abs(), "skip": weight * 0, "copy": weight}
            assert torch.equal(scaled[name], expected[rule]), name


def test_filter_of_zeros_stays_zero() -> None:
    weights = WEIGHTS.clone()
    LAYOUT.split(weights)["0.weight"][1] = 0.0
    noise = NOISE.clone()
    LAYOUT.split(noise)["0.weight"][2] = 0.0
    scaled = LAYOUT.split(scale_direction(noise, weights, norm="filter_ns", layout=LAYOUT))
    assert not scaled["0.weight"][1].any()
    assert not scaled["0.weight"][2].any()
    assert bool(torch.isfinite(scaled["0.weight"]).all())


@pytest.mark.parametrize(
    ("direction", "norm", "said"),
    [
        (torch.ones(3), "ns", r"direction of shape \(3,\)"),
        (torch.zeros_like(NOISE), "ns", "zero everywhere"),
        (NOISE, "max", "norm='max'"),
    ],
)
def test_bad_directions_are_refused(direction: torch.Tensor, norm: Norm, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        scale_direction(direction, WEIGHTS, norm=norm, layout=LAYOUT)
