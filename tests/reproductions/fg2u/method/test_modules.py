"""Modules and language models as pure functions of their weights."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.fg2u import Problem, Sgd, from_loss, functional, hypergradient
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


class Averaged(nn.Module):
    """Takes off a mean of the batches before, which it keeps in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean(0), 0.1)
        return x - self.mean


def with_spectral_norm() -> nn.Module:
    return nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4))


def with_old_spectral_norm() -> nn.Module:
    return nn.utils.spectral_norm(nn.Linear(4, 4))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (with_spectral_norm, r"its buffer 1\.parametrizations\.weight\.0\._u in each pass.*eval"),
        (with_old_spectral_norm, r"its buffer 1\.weight_u in each pass.*call eval"),
        # Where torch.func sees it first, that is said.
        (Averaged, r"its buffer 1\.mean in each pass.*call eval|changes a tensor in place"),
    ],
)
@pytest.mark.parametrize("method", [("rgu", {}), ("fg2u-zo", {"num_directions": 1})])
def test_a_module_that_changes_a_buffer_is_refused_and_left_as_it_was(
    make: Callable[[], nn.Module], said: str, method: tuple[str, dict[str, int]]
) -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 4), make()).train()
    buffers = {key: value.clone() for key, value in module.named_buffers()}
    x, estimate = torch.randn(6, 4), hypergradient(method[0], **method[1])

    def problem() -> Problem:
        call, weights = functional(module)
        return from_loss(
            start=lambda phi, batch: weights,
            loss=lambda weights, phi, batch, number: (call(weights, x) - phi).square().mean(),
            outer_loss=lambda weights, phi, batch: call(weights, x).square().mean(),
            optimizer=Sgd(lr=0.1),
            num_steps=3,
        )

    phi = torch.ones(4)
    with pytest.raises(SpecError, match=said):
        estimate(problem(), phi)
    module.eval()
    again = problem()
    once, twice = (
        estimate(again, phi, None, torch.Generator().manual_seed(0)).grad for _ in range(2)
    )
    assert torch.equal(once, twice)
    assert all(torch.equal(value, buffers[key]) for key, value in module.named_buffers())
