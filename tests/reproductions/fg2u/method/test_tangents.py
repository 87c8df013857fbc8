"""Tangents carried by the kernel's rules are those of torch.func."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from reproductions.fg2u.method import forward
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.optimizers import Adam, Optimizer, Sgd
from reproductions.fg2u.method.problem import Problem, from_loss
from reproductions.fg2u.method.tangents import kernel_of
from reproductions.fg2u.method.trees import tree_leaves
from reproductions.kernels import backend as backends
from reproductions.kernels.tangent_step import plain
from tests.reproductions.fg2u.small import batch, condensation, images


def rate(phi: Any, number: int) -> torch.Tensor:
    """A step size that phi sets, another one at each step."""
    return 0.1 * torch.exp(phi["log_decay"]).sum() ** 0.1 / (number + 1)


OPTIMIZERS = {
    "momentum": Sgd(lr=0.1, momentum=0.9),
    "momentum, learned rate": Sgd(lr=rate, momentum=0.5),
    "Adam": Adam(lr=0.05),
    "Adam, learned rate": Adam(lr=rate, beta2=0.9),
}


@pytest.mark.parametrize(
    ("optimizer", "chunk"), [*((name, 3) for name in OPTIMIZERS), ("Adam, learned rate", 1)]
)
def test_a_pass_by_the_kernels_rules_is_torch_func_s(
    optimizer: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = condensation(OPTIMIZERS[optimizer], num_steps=3)
    method = hypergradient("fg2u", num_directions=5, chunk=chunk)
    wanted = method(problem, images(), batch(), torch.Generator().manual_seed(1))
    monkeypatch.setattr(forward, "kernel_of", lambda *given: plain)
    found = method(problem, images(), batch(), torch.Generator().manual_seed(1))
    for ours, theirs in zip(tree_leaves(found.grad), tree_leaves(wanted.grad), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-14)
    assert float(found.outer_value) == pytest.approx(float(wanted.outer_value), rel=1e-12)
    assert found.stats.growth == pytest.approx(wanted.stats.growth, rel=1e-10)


def scalar(optimizer: Optimizer, dtype: torch.dtype) -> Problem:
    """Return a problem of one weight without a dimension."""
    return from_loss(
        start=lambda phi, batch: {"w": torch.zeros((), dtype=dtype)},
        loss=lambda weights, phi, batch, number: (weights["w"] - phi.sum()) ** 2,
        outer_loss=lambda weights, phi, batch: weights["w"] ** 2 + phi.sum(),
        optimizer=optimizer,
        num_steps=3,
    )


def test_a_weight_may_have_no_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, phi = scalar(OPTIMIZERS["Adam"], torch.float64), torch.tensor([0.5, 1.0]).double()
    method = hypergradient("fgu")
    monkeypatch.setattr(forward, "kernel_of", lambda *given: plain)
    ours = hypergradient("fg2u", num_directions=2, chunk=2, directions="coordinate")
    assert torch.allclose(ours(problem, phi).grad, method(problem, phi).grad, rtol=1e-12)


def test_the_kernel_is_for_steps_that_it_knows_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    single, double = torch.ones(2), torch.ones(2).double()
    monkeypatch.setattr(backends, "chosen", lambda *given: plain)
    assert kernel_of(scalar(OPTIMIZERS["Adam"], single.dtype), single, None) is None  # on a CPU
    monkeypatch.setattr(backends, "choose", lambda device: "triton")
    assert kernel_of(scalar(OPTIMIZERS["Adam"], single.dtype), single, None) is plain
    assert kernel_of(scalar(OPTIMIZERS["momentum"], single.dtype), single, None) is plain
    assert kernel_of(scalar(Sgd(lr=0.1), single.dtype), single, None) is None
    assert kernel_of(scalar(OPTIMIZERS["Adam"], double.dtype), single, None) is None
    assert kernel_of(scalar(OPTIMIZERS["Adam"], double.dtype), double, None) is None


class OwnAdam(Adam):
    """One that steps in its own way."""


def test_what_the_kernel_does_not_know_is_left_to_torch_func(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    phi = torch.ones(2)
    monkeypatch.setattr(backends, "chosen", lambda *given: plain)
    monkeypatch.setattr(backends, "choose", lambda device: "triton")
    per_entry = Sgd(lr=lambda phi, number: 0.1 * phi, momentum=0.9)
    for optimizer in (OwnAdam(lr=0.1), Sgd(lr=0.1), per_entry):
        assert kernel_of(scalar(optimizer, phi.dtype), phi, None) is None
    assert kernel_of(scalar(Adam(lr=0.1), phi.dtype), phi, None) is plain


def test_a_step_that_no_kernel_knows_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that none need be installed."""

    def none_here(device: torch.device) -> str:
        raise AssertionError("asked for a kernel")

    monkeypatch.setattr(backends, "choose", none_here)
    for optimizer in (OwnAdam(lr=0.1), Sgd(lr=0.1)):
        assert kernel_of(scalar(optimizer, torch.float32), torch.ones(2), None) is None
    with pytest.raises(AssertionError, match="asked for a kernel"):
        kernel_of(scalar(Adam(lr=0.1), torch.float32), torch.ones(2), None)
