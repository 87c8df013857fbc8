"""What each method holds is as its recursion says, and as its report tells beforehand."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from reproductions.fg2u import (
    Adam,
    Estimator,
    Problem,
    Sgd,
    default_methods,
    from_loss,
    hypergradient,
    memory_report,
)
from reproductions.fg2u.method.trees import num_bytes

SIZES = (32, 32, 10)
LABELS = torch.arange(16) % 10


def drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


INIT = [0.2 * drawn(b, a, seed=a) for a, b in itertools.pairwise(SIZES)]
IMAGES = drawn(16, SIZES[0], seed=1)


def mlp(num_steps: int, optimizer: Sgd | Adam) -> Problem:
    def score(weights: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x @ weights[0].T) @ weights[1].T

    return from_loss(
        start=lambda phi, batch: list(INIT),
        loss=lambda weights, phi, batch, number: cross_entropy(score(weights, phi), LABELS),
        outer_loss=lambda weights, phi, batch: cross_entropy(score(weights, IMAGES + 1.0), LABELS),
        optimizer=optimizer,
        num_steps=num_steps,
    )


MOMENTUM = Sgd(lr=0.05, momentum=0.9)


def peak(name: str, num_steps: int, **options: object) -> int:
    method = hypergradient(name, measure_memory=True, **options)
    found = method(mlp(num_steps, MOMENTUM), IMAGES).stats.peak_bytes
    assert found is not None
    return found


def test_what_grows_with_the_unroll_and_what_does_not() -> None:
    for name, options in (
        ("fg2u", {"num_directions": 1}),
        ("fg2u-zo", {"num_directions": 1}),
        ("trgu", {"keep": 4}),
        ("hessian-free", {}),
    ):
        assert peak(name, 32, **options) == peak(name, 8, **options), name
    assert peak("rgu", 32) / peak("rgu", 8) > 3.0
    assert peak("rgu-checkpoint", 32) < 0.45 * peak("rgu", 32)


def test_mixflow_keeps_the_weights_of_each_step_and_no_graph() -> None:
    each = (peak("rgu-mixflow", 32) - peak("rgu-mixflow", 16)) / 16
    assert each == pytest.approx(num_bytes(INIT), rel=0.05)


SLOTS = [hypergradient("rgu-checkpoint"), hypergradient("rgu-mixflow")]
"""Whose memory depends on what the optimizer remembers."""


@pytest.mark.parametrize(
    ("optimizer", "methods"),
    [
        (MOMENTUM, default_methods(mlp(25, MOMENTUM), IMAGES, num_directions=6, chunk=3)),
        (Adam(lr=0.01), SLOTS),
    ],
    ids=["momentum", "adam"],
)
def test_a_report_tells_what_will_be_counted(
    optimizer: Sgd | Adam, methods: list[Estimator]
) -> None:
    problem = mlp(25, optimizer)
    costs = memory_report(problem, IMAGES, None, methods)
    assert [cost.method for cost in costs] == methods
    for cost in costs:
        measured = replace(cost.method, measure_memory=True)
        counted = measured(problem, IMAGES, None, torch.Generator().manual_seed(1)).stats.peak_bytes
        assert cost.peak_bytes == pytest.approx(counted, rel=0.05), cost.method
        assert cost.seconds > 0.0
        assert (cost.relative_error is None) == cost.is_biased
