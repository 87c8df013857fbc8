"""Modules and language models as pure functions of their weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from harness.errors import SpecError
from reproductions.fg2u import functional
from tests.reproductions.fg2u.small import drawn
from tests.reproductions.nets.closures import Captured, seeded


def test_a_module_is_called_with_other_weights() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.GroupNorm(2, 4), nn.Linear(4, 2)).double()
    call, weights = functional(module)
    doubled = {name: 2.0 * weight for name, weight in weights.items()}
    assert torch.equal(call(weights, drawn(5, 3)), module(drawn(5, 3)))
    assert not torch.equal(call(doubled, drawn(5, 3)), module(drawn(5, 3)))
    assert not any(weight.requires_grad for weight in weights.values())


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), r"1 \(BatchNorm1d\) updates running"),
        (nn.Dropout(0.1), r"the module \(Dropout\) draws anew"),
        (nn.LSTM(3, 3, 2, dropout=0.1), r"the module \(LSTM\) draws anew"),
    ],
)
def test_a_module_that_is_no_function_of_its_weights_is_named(module: nn.Module, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        functional(module)
    functional(module.eval())


def test_a_module_that_holds_on_to_a_weight_is_refused() -> None:
    """The weight would have no part in any derivative."""
    call, weights = functional(seeded(Captured))
    with pytest.raises(SpecError, match=r"last\.weight that a function inside it holds on to"):
        call(weights, torch.ones(2, 4))
