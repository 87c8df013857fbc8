"""Masks on two real ranks: under DDP, which writes buffers, and FSDP2, which splits weights."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

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

NUM_RANKS, WIDTH, NUM_STEPS = 2, 16, 4


def encoder_layer() -> nn.Module:
    return nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)


def sparse() -> nn.Module:
    """Return a masked layer, the same on every rank, and a copy of a copy."""
    torch.manual_seed(0)
    model = encoder_layer()
    layers = linear_layers(model, exclude=())
    sparsify(model, layers=layers, density=0.25, generator=torch.Generator().manual_seed(1))
    return copy.deepcopy(copy.deepcopy(model))


def batch_of(step: int, rank: int) -> Tensor:
    generator = torch.Generator().manual_seed(100 * step + rank)
    return torch.randn(2, 5, WIDTH, generator=generator)


def loss_of(model: nn.Module, step: int, rank: int) -> Tensor:
    return (model(batch_of(step, rank)) - 1.0).square().mean()


def train_alone() -> list[float]:
    """Return the losses on the batches of all ranks, and train on their mean."""
    model = sparse()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for step in range(NUM_STEPS):
        loss = sum((loss_of(model, step, rank) for rank in range(NUM_RANKS)), torch.zeros(()))
        losses.append(loss.item() / NUM_RANKS)
        optimizer.zero_grad()
        (loss / NUM_RANKS).backward()
        optimizer.step()
    return losses


def train(model: nn.Module) -> list[float]:
    """Train on this rank's batches; return the ranks' mean losses."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for step in range(NUM_STEPS):
        loss = loss_of(model, step, dist.get_rank())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(mean.item() / NUM_RANKS)
    return losses


def whole(value: Tensor) -> Tensor:
    return value.full_tensor() if isinstance(value, DTensor) else value


@torch.no_grad()
def moved_by_a_write(model: nn.Module, parallel: nn.Module) -> float:
    """Return what ones in every masked place, written past every hook, do to the output."""
    parallel.eval()
    before = parallel(batch_of(0, 0))
    for layer in masked_layers(model).values():
        layer.weight.data.add_(1 - layer.factor_of(layer.weight))
    assert max_abs_masked(model) == 1.0
    return float((parallel(batch_of(0, 0)) - before).abs().max())


def max_saved(model: nn.Module) -> float:
    """Return the largest magnitude that a state dict has under a mask."""
    state = {name: whole(value) for name, value in model.state_dict().items()}
    masks = {n.removesuffix("_mask"): m for n, m in state.items() if n.endswith("weight_mask")}
    assert len(masks) == 3
    return max(float(state[name][~mask].abs().max()) for name, mask in masks.items())


def by_ddp() -> dict[str, Any]:
    model = sparse()
    parallel = DistributedDataParallel(model)
    found: dict[str, Any] = {"losses": train(parallel), "stored": max_abs_masked(model)}
    # Buffers are written before each forward pass, and the backward pass comes after both.
    (loss_of(parallel, 0, dist.get_rank()) + loss_of(parallel, 1, dist.get_rank())).backward()
    return found | {"moved": moved_by_a_write(model, parallel), "saved": max_saved(model)}


def by_fsdp() -> dict[str, Any]:
    model = sparse()
    for part in (model.linear1, model.linear2, model.self_attn, model):
        fully_shard(part)
    found: dict[str, Any] = {"losses": train(model), "stored": max_abs_masked(model)}
    found |= {"moved": moved_by_a_write(model, model), "saved": max_saved(model)}
    late = encoder_layer()
    fully_shard(late)
    try:
        sparsify(late, layers=["linear1"], density=0.5, generator=torch.Generator())
    except SpecError as error:
        found["told"] = str(error)
    return found


def each_on_rank() -> dict[str, Any]:
    return {"ddp": by_ddp(), "fsdp": by_fsdp(), "seeds": rules_with_a_seed_per_rank()}


@pytest.fixture(scope="module")
def ranks() -> list[Any]:
    return on_ranks(each_on_rank, NUM_RANKS)


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_two_ranks_train_the_sparse_net(way: str, ranks: list[Any]) -> None:
    alone = train_alone()
    for rank in (each[way] for each in ranks):
        assert rank["losses"] == pytest.approx(alone, rel=1e-5)
        assert [rank[name] for name in ("stored", "moved", "saved")] == [0.0, 0.0, 0.0]
        if way == "fsdp":
            assert "before fully_shard" in rank["told"]


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


def test_rules_are_refused_where_masks_differ_between_ranks(ranks: list[Any]) -> None:
    assert all("same seed on every rank" in rank["seeds"] for rank in ranks)
