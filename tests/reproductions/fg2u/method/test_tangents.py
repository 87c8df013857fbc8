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


@pytest.mark.parametrize(
    ("optimizer", "dtype", "known"),
    [
        (OPTIMIZERS["Adam"], torch.float32, True),
        (OPTIMIZERS["momentum"], torch.float32, True),
        (OPTIMIZERS["Adam"], torch.float64, False),
        (Sgd(lr=0.1), torch.float32, False),
        (Sgd(lr=lambda phi, number: 0.1 * phi, momentum=0.9), torch.float32, False),
    ],
)
def test_the_kernel_is_for_steps_that_it_knows_in_float32(
    optimizer: Optimizer, dtype: torch.dtype, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "chosen", lambda *given: plain)
    problem = scalar(optimizer, dtype)
    assert kernel_of(problem, torch.ones(2), None) is None  # on a CPU
    monkeypatch.setattr(backends, "choose", lambda device: "triton")
    assert kernel_of(problem, torch.ones(2), None) is (plain if known else None)
