"""Modules and language models as pure functions of their weights."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from harness.errors import SpecError
from reproductions.fg2u import functional
from tests.reproductions.fg2u.small import drawn
from tests.reproductions.nets.closures import Bound, Captured, Closed, seeded


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
        (nn.InstanceNorm1d(3, track_running_stats=True), r"\(InstanceNorm1d\) updates running"),
        (nn.Dropout(0.1), r"the module \(Dropout\) draws anew"),
        (nn.LSTM(3, 3, 2, dropout=0.1), r"the module \(LSTM\) draws anew"),
    ],
)
def test_a_module_that_is_no_function_of_its_weights_is_named(module: nn.Module, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        functional(module)
    functional(module.eval())


def test_frozen_weights_are_constants() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    module[0].requires_grad_(False)
    call, weights = functional(module)
    assert set(weights) == {"1.weight", "1.bias"}
    x = torch.ones(5, 3)
    assert torch.equal(call(weights, x), module(x))


def test_batch_norm_without_running_statistics_is_a_function() -> None:
    functional(nn.BatchNorm1d(3, track_running_stats=False))


@pytest.mark.parametrize("kind", [Closed, Bound])
def test_what_reaches_its_weights_through_itself_is_called_with_others(kind: type[Closed]) -> None:
    """The module itself is called, so that a function over it finds what is put in its place."""
    module = seeded(kind)
    call, weights = functional(module)
    x = torch.ones(2, 4)
    torch.testing.assert_close(call(weights, x), module(x))
    assert not call({name: torch.zeros_like(w) for name, w in weights.items()}, x).any()


def test_a_module_that_holds_on_to_a_weight_is_refused() -> None:
    """The weight would have no part in any derivative."""
    call, weights = functional(seeded(Captured))
    with pytest.raises(SpecError, match=r"last\.weight that a function inside it holds on to"):
        call(weights, torch.ones(2, 4))
