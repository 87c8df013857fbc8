"""Set-ups of training that an unroll would not survive are refused, each for its own reason."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from harness.errors import SpecError
from reproductions.fg2u import Phase, Problem, Sgd, descend, from_loss, functional, hypergradient
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
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_named_and_not_taken_for_chance(name: str, dtype: torch.dtype) -> None:
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
@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
def test_what_a_caller_switched_off_does_not_matter(
    name: str, off: Callable[[], AbstractContextManager[None]]
) -> None:
    with off():
        found = estimate(name, training())
    assert torch.equal(found, estimate(name, training()))


def test_a_tensor_of_inference_mode_is_named() -> None:
    with torch.inference_mode():
        weights = torch.ones(3, 3)
    with pytest.raises(SpecError, match=r"made under torch.inference_mode.* under torch.no_grad"):
        estimate("rgu", training(lambda theta, phi: (theta @ weights @ phi).square().sum()))


@pytest.mark.parametrize(
    ("optimizer", "said"),
    [
        (lambda leaves, lr: torch.optim.SGD(leaves[:1], lr=lr), "over other tensors than phi's"),
        (lambda leaves, lr: torch.optim.SGD(leaves, lr=0.3), "step size 0.3, where the phase has"),
        (
            lambda leaves, lr: torch.optim.SGD(
                [{"params": leaves[:1]}, {"params": leaves[1:], "lr": lr / 10}], lr=lr
            ),
            "step size 0.01, where the phase has 0.1 for all",
        ),
    ],
)
def test_an_outer_optimizer_that_would_be_overruled_is_refused(optimizer: Any, said: str) -> None:
    problem, start = quadratic(num_steps=2)
    twofold = Problem(
        start=lambda phi, batch: problem.start(phi["a"], batch),
        step=lambda state, phi, batch, number: problem.step(state, phi["a"], batch, number),
        outer_loss=lambda state, phi, batch: problem.outer(state, phi, batch) + phi["b"].sum(),
        num_steps=2,
    )
    phase = Phase(method=hypergradient("rgu"), num_steps=1, lr=0.1)
    phi = {"a": start.clone(), "b": start.clone()}
    with pytest.raises(SpecError, match=said):
        next(descend(twofold, phi, [None], [phase], optimizer=optimizer))


def test_dropout_that_is_a_number_of_attention_is_named() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1, attention_dropout=0.1,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).train()
    with pytest.raises(SpecError, match=r"self_attn \(LlamaAttention\) draws anew"):
        functional(model)
    functional(model.eval())
