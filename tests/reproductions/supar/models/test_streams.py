"""Random streams of a net: each follows its own seed, and no other."""

from __future__ import annotations

import torch

from reproductions.nets.gpt import GPT
from reproductions.supar.method.masks import masked_layers
from reproductions.supar.models.training import Seeds, build_gpt
from tests.reproductions.supar import small


def net(*, init: int, masks: int) -> GPT:
    table = small.table()
    shape = small.config(table, width=64)
    return build_gpt(shape, table, Seeds(init=init, masks=masks), mask_density=table.density)


def masks_of(model: GPT) -> torch.Tensor:
    return torch.cat([layer.weight_mask.flatten() for layer in masked_layers(model).values()])


def test_masks_and_the_start_follow_a_seed_each() -> None:
    first, other_masks, other_start = (
        net(init=0, masks=1),
        net(init=0, masks=2),
        net(init=3, masks=1),
    )
    assert torch.equal(masks_of(first), masks_of(other_start))
    assert not torch.equal(masks_of(first), masks_of(other_masks))
    assert torch.equal(first.tokens.weight, other_masks.tokens.weight)
    assert not torch.equal(first.tokens.weight, other_start.tokens.weight)
