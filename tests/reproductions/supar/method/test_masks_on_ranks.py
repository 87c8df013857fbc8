"""Masks on two real ranks under FSDP2, which splits weights.

That it and DDP train the sparse net is tried by `tests/composes`.
"""

from __future__ import annotations

import copy

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from harness.errors import SpecError
from reproductions.paro.models.gloo_ranks import on_ranks
from reproductions.supar import (
    TABLE_3,
    Parameterization,
    linear_layers,
    masked_layers,
    max_abs_masked,
    param_groups,
    sparsify,
)
from reproductions.supar.method.parameterization import Role

NUM_RANKS, WIDTH = 2, 16


def encoder_layer() -> nn.Module:
    return nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)


def sparse() -> nn.Module:
    """Return a masked layer, the same on every rank, and a copy of a copy."""
    torch.manual_seed(0)
    model = encoder_layer()
    layers = linear_layers(model, exclude=())
    sparsify(model, layers=layers, density=0.25, generator=torch.Generator().manual_seed(1))
    return copy.deepcopy(copy.deepcopy(model))


@torch.no_grad()
def moved_by_a_write(model: nn.Module) -> float:
    """Return what ones in every masked place, written past every hook, do to the output."""
    model.eval()
    x = torch.randn(2, 5, WIDTH, generator=torch.Generator().manual_seed(2))
    before = model(x)
    for layer in masked_layers(model).values():
        layer.weight.data.add_(1 - layer.factor_of(layer.weight))
    assert max_abs_masked(model) == 1.0
    return float((model(x) - before).abs().max())


def max_saved(model: nn.Module) -> float:
    """Return the largest magnitude that a state dict has under a mask."""
    state = {
        name: value.full_tensor() if isinstance(value, DTensor) else value
        for name, value in model.state_dict().items()
    }
    masks = {n.removesuffix("_mask"): m for n, m in state.items() if n.endswith("weight_mask")}
    assert len(masks) == 3
    return max(float(state[name][~mask].abs().max()) for name, mask in masks.items())


def by_fsdp() -> dict[str, float]:
    model = sparse()
    for part in (model.linear1, model.linear2, model.self_attn, model):
        fully_shard(part)
    return {"moved": moved_by_a_write(model), "saved": max_saved(model)}


def rules_with_a_seed_per_rank() -> str:
    model = encoder_layer()
    seed = dist.get_rank()
    sparsify(model, layers=["linear1"], density=0.5, generator=torch.Generator().manual_seed(seed))
    fully_shard(model)
    roles: dict[str, Role] = {name: "vector" for name, _ in model.named_parameters()}
    table = Parameterization(scheme="supar", width_multiplier=1.0, density=0.5, base=TABLE_3)
    with pytest.raises(SpecError) as told:
        param_groups(
            model, table, roles | {"linear1.weight": "hidden"}, weight_decay=0.0, decay="coupled"
        )
    return str(told.value)


def each_on_rank() -> tuple[dict[str, float], str]:
    return by_fsdp(), rules_with_a_seed_per_rank()


def test_masks_hold_on_ranks_which_need_one_for_all() -> None:
    """What is written under a mask is neither read nor saved."""
    for found, told in on_ranks(each_on_rank, NUM_RANKS):
        assert found == {"moved": 0.0, "saved": 0.0}
        assert "same seed on every rank" in told
