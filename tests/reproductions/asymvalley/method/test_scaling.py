"""Raw, filter-norm-scaled and norm-scaled directions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

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


@pytest.mark.parametrize(
    ("layer", "filters"),
    [
        (nn.ConvTranspose2d(5, 3, 2), lambda weight: weight.transpose(0, 1)),
        # Two groups of three inputs and two outputs each.
        (
            nn.ConvTranspose1d(6, 4, 3, groups=2),
            lambda weight: torch.cat([part.transpose(0, 1) for part in weight.split(3)]),
        ),
        (Conv1D(3, 5), lambda weight: weight.T),
        (nn.Conv2d(6, 4, 2, groups=2), lambda weight: weight),
        (nn.LazyConvTranspose2d(3, 2), lambda weight: weight.transpose(0, 1)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_filter_is_what_makes_one_output_however_it_is_stored(
    layer: nn.Module, filters: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    if isinstance(layer, nn.LazyConvTranspose2d):
        layer(torch.zeros(1, 5, 4, 4))
    layout = layout_of(layer)
    weights = draw_noise("gaussian", layout.size, seed=0, draw=1)
    filters(layout.split(weights)["weight"])[0] *= 30.0
    noise = draw_noise("gaussian", layout.size, seed=0, draw=0)
    scaled = scale_direction(noise, weights, norm="filter_ns", layout=layout)
    found, wanted, drawn = (filters(layout.split(each)["weight"]).flatten(1)
                            for each in (scaled, weights, noise))  # fmt: skip
    assert found.norm(dim=1).tolist() == pytest.approx(wanted.norm(dim=1).tolist(), rel=1e-5)
    assert all(cosine(*pair) > 1.0 - 1e-6 for pair in zip(found, drawn, strict=True))
