"""Rates of `param_groups` under an optimizer that they are not made for: refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn, optim

from harness.errors import SpecError
from reproductions.kernels.adamw.optimizer import KernelAdamW
from reproductions.supar import TABLE_3, Parameterization, infer_roles, param_groups

Make = Callable[[Any], optim.Optimizer]
WIDTHS = (16, 64)


class Lion(optim.Optimizer):
    """Chen et al., arXiv 2302.06675, algorithm 2, without decay."""

    def __init__(self, params: Any, lr: float = 1e-4) -> None:
        super().__init__(params, {"lr": lr, "betas": (0.9, 0.99)})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                p.sub_(group["lr"] * mean.lerp(p.grad, 0.1).sign())
                mean.lerp_(p.grad, 0.01)


class Adam8bit(Lion):
    """An Adam of another package, of which the name alone says so."""


class MuonWithAuxAdam(optim.SGD):
    """Of another package: its name has Adam in it, and its matrices have another step."""


class Unheard(optim.SGD):
    """An optimizer that nobody knows."""


RIGHT: dict[str, Make] = {
    "AdamW": optim.AdamW,
    "RMSprop": optim.RMSprop,
    "Lion": Lion,
    "8 bits": Adam8bit,
    "subclass": type("Mine", (optim.AdamW,), {}),
    "kernel": KernelAdamW,
}
WRONG: dict[str, Make] = {
    "SGD": optim.SGD,
    "Adafactor": optim.Adafactor,
    "Muon": optim.Muon,
    "RAdam": optim.RAdam,
    "MuonWithAuxAdam": MuonWithAuxAdam,
    "Unheard": Unheard,
}


def matrix(width: int) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(width, width, bias=False)


def groups_of(model: nn.Module, *, weight_decay: float = 0.0, **named: Any) -> Any:
    table = Parameterization(scheme="supar", width_multiplier=2.0, density=1.0, base=TABLE_3)
    roles = infer_roles(model, ["weight"])
    return param_groups(model, table, roles, weight_decay=weight_decay, decay="coupled", **named)


def stepped(model: nn.Module, optimizer: optim.Optimizer, size: float = 1.0) -> Tensor:
    """Return by how much the weight moves in a step for a gradient of a size."""
    before = model.weight.detach().clone()
    generator = torch.Generator().manual_seed(1)
    model.weight.grad = size * torch.randn(before.shape, generator=generator)
    optimizer.step()
    return model.weight.detach() - before


@pytest.mark.parametrize("name", RIGHT)
def test_what_moves_entries_by_their_rate_takes_the_groups(name: str) -> None:
    """They are right to be taken: a step is as long for any gradient and any width."""
    lengths = []
    for width in WIDTHS:
        for size in (1e-3, 1.0):
            model = matrix(width)
            optimizer = RIGHT[name](groups_of(model))
            lengths.append(float(stepped(model, optimizer, size).square().mean().sqrt()))
    assert lengths == pytest.approx([lengths[0]] * len(lengths), rel=2e-3)


@pytest.mark.parametrize("name", WRONG)
def test_another_is_refused_before_its_first_step(name: str) -> None:
    model = matrix(16)
    optimizer, before = WRONG[name](groups_of(model)), model.weight.detach().clone()
    with pytest.raises(SpecError, match="has the rates of param_groups, which are made for Adam"):
        stepped(model, optimizer)
    assert torch.equal(model.weight, before)


def test_groups_know_their_optimizer_wherever_they_go() -> None:
    model = matrix(16)
    model.weight.grad = torch.ones_like(model.weight)
    loaded = optim.SGD(model.parameters())
    loaded.load_state_dict(optim.SGD(groups_of(model)).state_dict())
    for step in (loaded.step, torch.compile(loaded.step, backend="eager")):
        with pytest.raises(SpecError, match="SGD has the rates"):
            step()


def test_an_optimizer_is_taken_at_its_users_word() -> None:
    model = matrix(16)
    assert stepped(model, Unheard(groups_of(model, like_adam="Unheard"))).any()
    with pytest.raises(SpecError, match=r"like_adam='SGD'"):
        stepped(model, optim.SGD(groups_of(model, like_adam="Unheard")))


@pytest.mark.parametrize(
    "make",
    [optim.Adam, optim.RMSprop, partial(KernelAdamW, decay="independent")],
)
def test_a_decay_that_is_not_lr_times_weight_decay_is_refused(make: Make) -> None:
    model = matrix(16)
    with pytest.raises(SpecError, match=r"does not shrink weights by lr \* weight_decay"):
        stepped(model, make(groups_of(model, weight_decay=0.1)))


@pytest.mark.parametrize(
    "make", [optim.AdamW, partial(optim.NAdam, decoupled_weight_decay=True), KernelAdamW]
)
def test_a_decay_is_right_where_weights_shrink_by_the_rate(make: Make) -> None:
    plain, decayed = (
        stepped(model, make(groups_of(model, weight_decay=decay)))
        for model, decay in ((matrix(16), 0.0), (matrix(16), 0.1))
    )
    shrunk = -0.1 * TABLE_3.lr / 2 * matrix(16).weight.detach()
    torch.testing.assert_close(decayed - plain, shrunk, rtol=1e-3, atol=1e-7)
