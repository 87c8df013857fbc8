"""Set-ups of training that an unroll would not survive are refused, each for its own reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from harness.errors import SpecError
from reproductions.fg2u import Phase, Problem, Sgd, descend, from_loss, hypergradient
from tests.reproductions.fg2u.small import drawn, quadratic

EVERY = ("rgu", "rgu-mixflow", "fg2u", "fg2u-zo")
"""One of each kind: by reverse, both, forward and no derivatives."""
OPTIONS: dict[str, dict[str, Any]] = {
    "fg2u": {"num_directions": 2, "chunk": 2},
    "fg2u-zo": {"num_directions": 2, "chunk": 2},
}
for_every_method = pytest.mark.parametrize("name", EVERY)
WEIGHTS = 0.3 * drawn(3, 3, seed=1).float()
PHI = drawn(3).float()


def estimate(name: str, problem: Problem, phi: Any = PHI) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return hypergradient(name, **OPTIONS.get(name, {}))(problem, phi, None, generator).grad


def training(
    loss: Callable[[Tensor, Tensor], Tensor] = lambda theta, phi: (theta @ phi).tanh().sum(),
    dtype: torch.dtype = torch.float32,
) -> Problem:
    weights = WEIGHTS.to(dtype)
    return from_loss(
        start=lambda phi, batch: weights,
        loss=lambda theta, phi, batch, number: loss(theta, phi),
        outer_loss=lambda theta, phi, batch: (theta @ theta).square().sum(),
        optimizer=Sgd(lr=0.3),
        num_steps=3,
    )


@for_every_method
def test_half_precision_is_named_and_not_taken_for_chance(name: str) -> None:
    dtype = torch.bfloat16
    with pytest.raises(SpecError, match=f"start returned a state in {dtype}, .* take float32"):
        estimate(name, training(dtype=dtype))
    with pytest.raises(SpecError, match=f"phi is in {dtype}"):
        estimate(name, training(), PHI.to(dtype))


@for_every_method
def test_a_re_entrant_checkpoint_is_named(name: str) -> None:
    problem = training(
        lambda theta, phi: checkpoint(
            lambda phi: (theta @ phi).tanh().sum(), phi, use_reentrant=True
        )
    )
    with pytest.raises(SpecError, match="a re-entrant checkpoint does"):
        estimate(name, problem)


@for_every_method
def test_what_a_caller_switched_off_does_not_matter(name: str) -> None:
    with torch.inference_mode():
        found = estimate(name, training())
    assert torch.equal(found, estimate(name, training()))


@pytest.mark.parametrize(
    ("optimizer", "said"),
    [
        (lambda leaves, lr: torch.optim.SGD([drawn(2)], lr=lr), "over other tensors than phi's"),
        (lambda leaves, lr: torch.optim.SGD(leaves, lr=0.3), "step size 0.3, where the phase has"),
    ],
)
def test_an_outer_optimizer_that_would_be_overruled_is_refused(optimizer: Any, said: str) -> None:
    problem, start = quadratic(num_steps=2)
    phase = Phase(method=hypergradient("rgu"), num_steps=1, lr=0.1)
    with pytest.raises(SpecError, match=said):
        next(descend(problem, start, [None], [phase], optimizer=optimizer))
