"""What each method holds is as its recursion says, and as its report tells beforehand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

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
from reproductions.fg2u.method import costs

SIZES = (8, 8, 10)
LABELS = torch.arange(10)


def drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


INIT = [0.2 * drawn(b, a, seed=a) for a, b in itertools.pairwise(SIZES)]
IMAGES = drawn(10, SIZES[0], seed=1)


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
        assert peak(name, 16, **options) == peak(name, 8, **options), name
    assert peak("rgu", 32) / peak("rgu", 8) > 3.0
    assert peak("rgu-checkpoint", 32) < 0.45 * peak("rgu", 32)


SLOTS = [hypergradient("rgu-checkpoint"), hypergradient("rgu-mixflow")]
"""Whose memory depends on what the optimizer remembers."""


@pytest.mark.parametrize(
    ("optimizer", "methods"),
    [
        (MOMENTUM, default_methods(mlp(12, MOMENTUM), IMAGES, num_directions=6, chunk=3)),
        (Adam(lr=0.01), SLOTS),
    ],
    ids=["momentum", "adam"],
)
def test_a_report_tells_what_will_be_counted(
    optimizer: Sgd | Adam, methods: list[Estimator]
) -> None:
    problem = mlp(12, optimizer)
    costs = memory_report(problem, IMAGES, None, methods)
    assert [cost.method for cost in costs] == methods
    for cost in costs:
        measured = replace(cost.method, measure_memory=True)
        counted = measured(problem, IMAGES, None, torch.Generator().manual_seed(1)).stats.peak_bytes
        assert cost.peak_bytes == pytest.approx(counted, rel=0.05), cost.method
        assert cost.seconds > 0.0
        assert (cost.relative_error is None) == cost.is_biased


def test_a_report_takes_no_step_that_the_problem_does_not_have() -> None:
    """Each step reads data of its own; three entries have three coordinates."""
    num_steps = 2
    data = drawn(num_steps, 5, 3, seed=2)
    problem = from_loss(
        start=lambda phi, batch: torch.zeros(3),
        loss=lambda theta, phi, batch, number: (data[number] @ (theta - phi)).square().sum(),
        outer_loss=lambda theta, phi, batch: theta.square().sum(),
        optimizer=MOMENTUM,
        num_steps=num_steps,
    )
    methods = default_methods(problem, torch.ones(3), num_directions=2, chunk=2)
    methods.append(hypergradient("trgu", keep=num_steps))
    methods.append(hypergradient("fg2u", num_directions=3, chunk=3, directions="coordinate"))
    assert len(memory_report(problem, torch.ones(3), None, methods)) == len(methods)


@pytest.mark.parametrize(
    ("kind", "num_entries", "rounds"), [("rademacher", 8, 3), ("gauss-grid", 3, 12**3 / 5)]
)
def test_a_report_takes_few_directions_and_tells_the_time_of_all(
    kind: str, num_entries: int, rounds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def a_second_a_step(problem: Any, phi: Any, batch: Any, method: Any, steps: int) -> float:
        assert method.num_directions == 5
        return float(steps)

    monkeypatch.setattr(costs, "_fastest", a_second_a_step)
    problem = from_loss(
        start=lambda phi, batch: torch.zeros_like(phi),
        loss=lambda theta, phi, batch, number: (theta - phi).square().sum(),
        outer_loss=lambda theta, phi, batch: theta.square().sum(),
        optimizer=MOMENTUM,
        num_steps=8,
    )
    method = hypergradient("fg2u", num_directions=11, chunk=5, directions=kind)
    (cost,) = memory_report(problem, torch.ones(num_entries), None, [method])
    assert cost.method is method and cost.seconds == 8 * math.ceil(rounds)
