"""fully_shard with collectives in two layers trains as it does by itself."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from harness.errors import SpecError
from reproductions.paro.method.engine import mesh_of_groups
from reproductions.paro.method.engine.collectives import Collectives
from reproductions.paro.method.engine.fsdp2 import TwoLayerReduceScatter, use_two_layers
from reproductions.paro.method.engine.groups import Groups
from reproductions.paro.method.engine.wire import Sent
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import (
    ADAMW,
    Net,
    assert_near,
    loss_of,
    micro_batch,
)

NUM_RANKS, GROUP_SIZE, STEPS = 4, 2, 2


def train_on_rank() -> dict[str, Any]:
    return {
        "plain": train(two_layers=False),
        "ours": train(two_layers=True),
        "mean": mean(),
        "told": misuse(),
    }


def mean() -> list[float]:
    """Return this rank's part of the mean of all ranks' numbers, as NCCL's users ask for it."""
    collectives = Collectives(Groups(mesh_of_groups(GROUP_SIZE)), "two-layer")
    given = torch.arange(2.0 * NUM_RANKS) * (dist.get_rank() + 1)
    found = torch.empty(2)
    everybody = dist.group.WORLD
    assert everybody is not None
    TwoLayerReduceScatter(collectives)(found, given, everybody, dist.ReduceOp.AVG)
    return found.tolist()


def train(*, two_layers: bool) -> dict[str, Any]:
    net = Net()
    mesh = init_device_mesh("cpu", (NUM_RANKS,))
    for unit in (*net.blocks, net):
        fully_shard(unit, mesh=mesh)
    sent = Counter[Sent]()
    if two_layers:
        sent = use_two_layers(net, mesh_of_groups(GROUP_SIZE)).wire.sent_bytes
    optimizer = ADAMW(net.parameters())
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        sent.clear()
        loss = loss_of(net, micro_batch(step, 0, dist.get_rank()))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    weights = {name: param.full_tensor().tolist() for name, param in net.named_parameters()
               if isinstance(param, DTensor)}  # fmt: skip
    leaves = sum(size for what, size in sent.items() if what.leaves_group)
    stays = sum(size for what, size in sent.items() if not what.leaves_group)
    return {"losses": losses, "weights": weights, "leaves": leaves, "stays": stays}


def test_two_layers_under_fully_shard_change_nothing_but_the_way() -> None:
    for place, rank in enumerate(on_ranks(train_on_rank, NUM_RANKS)):
        assert rank["mean"] == [2.5 * 2 * place, 2.5 * (2 * place + 1)]
        one, other = rank["plain"], rank["ours"]
        assert_near(other["losses"], one["losses"], "losses")
        assert len(one["weights"]) == len(list(Net().parameters()))
        for name, weights in one["weights"].items():
            assert_near(other["weights"][name], weights, name)
        # Of n blocks g - 1 leave the group, and (m - 1) g go to others of it: one, and two.
        assert other["stays"] == 2 * other["leaves"] > 0
        unsplit, some = rank["told"]
        assert unsplit.startswith("a model that nothing split")
        assert some.startswith("two layers under a mesh of some ranks")


def misuse() -> list[str]:
    mesh, net = mesh_of_groups(GROUP_SIZE), Net()
    with pytest.raises(SpecError) as unsplit:
        use_two_layers(net, mesh)
    fully_shard(net, mesh=mesh)
    use_two_layers(net, mesh)
    with pytest.raises(SpecError) as some:
        net(micro_batch(0, 0, 0))
    return [str(unsplit.value), str(some.value)]
