"""The line through two solutions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from reproductions.asymvalley.method.curve import point_of
from reproductions.asymvalley.method.interpolation import (
    group_statistics,
    interpolation_curve,
)
from reproductions.asymvalley.method.layout import layout_of, parameters_vector
from tests.reproductions.asymvalley.small import small_data, small_net


def test_ends_are_the_two_models() -> None:
    first, second, data = (
        small_net(batch_norm=False),
        small_net(batch_norm=False, seed=1),
        small_data(),
    )
    curve = interpolation_curve(
        first, first.state_dict(), second.state_dict(), [0.0, 0.5, 1.0], bn_stats="none", data=data
    )
    assert curve.points[0] == point_of(first, data)
    assert curve.points[2] == point_of(second, data)
    middle = small_net(batch_norm=False)
    with torch.no_grad():
        for name, parameter in middle.named_parameters():
            other = second.state_dict()[name]
            parameter.copy_((first.state_dict()[name] + other) / 2)
    assert curve.points[1].ce == pytest.approx(point_of(middle, data).ce, rel=1e-5)


def test_group_statistics_are_those_of_its_numbers() -> None:
    first, second = small_net(), small_net(seed=1)
    layout = layout_of(first)
    towards = parameters_vector(second) - parameters_vector(first)
    found = group_statistics(parameters_vector(first), towards, layout, "bn_weight")
    weights = np.concatenate([first[i].weight.detach().numpy() for i in (1, 5)]).astype(np.float64)
    others = np.concatenate([second[i].weight.detach().numpy() for i in (1, 5)]).astype(np.float64)
    assert found.mean == pytest.approx(weights.mean(), rel=1e-9)
    assert found.std == pytest.approx(weights.std(), rel=1e-9)
    assert found.norm == pytest.approx(np.linalg.norm(weights), rel=1e-9)
    assert found.consistency == pytest.approx(((others - weights) * weights > 0).mean())
