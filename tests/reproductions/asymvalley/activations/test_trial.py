"""Units on and off along a walk."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from reproductions.asymvalley.activations.trial import agreement_along
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.data import ValleyData


def linear_walk() -> tuple[Walk, nn.Linear, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    hidden, last = nn.Linear(5, 40, bias=False), nn.Linear(40, 2, bias=False)
    x = torch.randn(30, 5, generator=generator)
    data = ValleyData(test_images=x, test_labels=torch.zeros(30, dtype=torch.long), batch_size=7)
    model = nn.Sequential(hidden, nn.ReLU(), last)
    return Walk(model, data, bn_stats="none"), hidden, x


def test_shares_are_those_of_two_by_two_counts() -> None:
    walk, hidden, x = linear_walk()
    step = torch.randn(walk.layout.size, generator=torch.Generator().manual_seed(1))
    delta = walk.layout.split(step)["0.weight"]
    for place, shares in agreement_along(walk, step, [-0.7, 0.0, 1.3]):
        was = (x @ hidden.weight.T).detach() > 0
        now = (x @ (hidden.weight + place * delta).T).detach() > 0
        expected = {
            "on_on": (was & now), "on_off": (was & ~now),
            "off_on": (~was & now), "off_off": (~was & ~now),
        }  # fmt: skip
        for name, states in expected.items():
            assert shares[name] == pytest.approx(float(states.double().mean()), abs=1e-12), place
        assert shares["agreement"] == shares["on_on"] + shares["off_off"]
