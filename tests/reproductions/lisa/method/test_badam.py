"""One block at a time: the order of blocks, what trains, and a loop written by hand."""

from __future__ import annotations

import pytest
import torch

from reproductions.lisa.method.methods import Badam
from reproductions.lisa.method.sampling import CyclicSampler
from tests.reproductions.lisa.small import (
    NUM_BLOCKS,
    adamw,
    assert_same,
    batches,
    copy_of,
    llama,
    train,
)


def test_every_cycle_has_each_block_once_in_an_order_of_its_own() -> None:
    before = torch.get_rng_state()
    sampler = CyclicSampler(10, seed=0)
    cycles = [[sampler.draw() for _ in range(10)] for _ in range(50)]
    assert all(sorted(cycle) == [(block,) for block in range(10)] for cycle in cycles)
    assert len({tuple(cycle) for cycle in cycles}) == 50
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("drawn", [7, 10])
def test_a_stored_order_goes_on_within_a_cycle_and_at_its_end(drawn: int) -> None:
    sampler, other = CyclicSampler(10, seed=0), CyclicSampler(10, seed=99)
    for _ in range(drawn):
        sampler.draw()
    other.load_state_dict(sampler.state_dict())
    assert [other.draw() for _ in range(25)] == [sampler.draw() for _ in range(25)]


def by_hand(*, period: int, seed: int, steps: int) -> torch.nn.Module:
    """Train one block after another, each with a new AdamW, and nothing else."""
    model, sampler = llama(), CyclicSampler(NUM_BLOCKS, seed=seed)
    model.requires_grad_(False)
    for step, ids in enumerate(batches(steps)):
        if step % period == 0:
            model.requires_grad_(False)
            block = model.model.layers[sampler.draw()[0]].requires_grad_(True)
            optimizer = adamw(block)
        train(model, optimizer, iter([ids]))
    return model


def test_training_is_that_of_blocks_one_after_another() -> None:
    model = llama()
    before = copy_of(model)
    prepared = Badam(period=3, seed=4).prepare(model, lambda _: adamw(model))
    # A cycle and a half.
    train(model, prepared.optimizer, batches(3 * NUM_BLOCKS + 6))
    assert_same(model, by_hand(period=3, seed=4, steps=3 * NUM_BLOCKS + 6))
    for name, value in model.named_parameters():
        assert torch.equal(value, before[name]) == ("layers" not in name), name
