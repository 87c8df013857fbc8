"""Checkpoints of LISA: resumed to the bit, or refused in a sentence."""

from __future__ import annotations

from typing import Any, get_args

import pytest
import torch
from torch import nn

from harness.errors import DataError, RunError
from reproductions.lisa import Lisa, StatePolicy
from reproductions.lisa.method.methods import Full
from tests.reproductions.lisa.small import adamw, assert_resumes, batches, llama, train

SETTINGS: dict[str, Any] = {"gamma": 2, "period": 3, "seed": 2}


@pytest.mark.parametrize("policy", get_args(StatePolicy))
@pytest.mark.parametrize(("kind", "stop"), [("exact", 4), ("bernoulli", 6)])
def test_resumed_equals_uninterrupted(policy: StatePolicy, stop: int, kind: Any) -> None:
    """The optimizer's checkpoint alone carries it, within a period and at its end."""
    settings = SETTINGS | {"policy": policy, "sampler": kind}
    lisas: list[Lisa] = []

    def prepare(model: nn.Module) -> torch.optim.Optimizer:
        lisas.append(Lisa(model, **settings))
        return lisas[-1].attach(adamw(model))

    assert_resumes(prepare, steps=11, stop=stop)
    whole, _, resumed = lisas
    assert (resumed.step, resumed.visited) == (11, whole.visited)


def checkpoint_of_lisa() -> dict[str, Any]:
    model = llama()
    optimizer = Lisa(model, **SETTINGS).attach(adamw(model))
    train(model, optimizer, batches(4))
    return optimizer.state_dict()


def test_a_checkpoint_of_other_settings_or_without_lisa_is_refused() -> None:
    other = llama()
    optimizer = Lisa(other, **SETTINGS | {"gamma": 1}).attach(adamw(other))
    with pytest.raises(DataError, match="made with gamma=2, this run has gamma=1"):
        optimizer.load_state_dict(checkpoint_of_lisa())
    with pytest.raises(DataError, match="without LISA"):
        optimizer.load_state_dict(adamw(llama()).state_dict())


def test_what_trains_without_lisa_refuses_its_checkpoint() -> None:
    optimizer = Full().prepare(llama(), torch.optim.AdamW).optimizer
    with pytest.raises(DataError, match="made with LISA, and no Lisa is attached"):
        optimizer.load_state_dict(checkpoint_of_lisa())


def test_a_checkpoint_of_other_parameters_in_the_blocks_is_refused() -> None:
    """Moments of paged blocks are known by their place among those that train."""
    other = llama()
    for block in other.model.layers:
        block.mlp.requires_grad_(False)
    optimizer = Lisa(other, **SETTINGS).attach(adamw(other))
    with pytest.raises(DataError, match="made with other parameters that train in the blocks"):
        optimizer.load_state_dict(checkpoint_of_lisa())


def test_an_optimizer_that_loads_without_telling_is_noticed() -> None:
    """As bitsandbytes' do, whose load_state_dict runs no hooks."""
    other = llama()
    optimizer = Lisa(other, **SETTINGS).attach(adamw(other))
    optimizer._optimizer_load_state_dict_pre_hooks.clear()
    optimizer.load_state_dict(checkpoint_of_lisa())
    with pytest.raises(RunError, match="loaded at step 4 and LISA is at step 0"):
        train(other, optimizer, batches(1))
