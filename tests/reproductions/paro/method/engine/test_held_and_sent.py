"""Bytes that ranks hold and send, against the planner's formulas."""

from __future__ import annotations

import gc
import time
from collections import Counter
from functools import partial
from typing import Any

import pytest
import torch
import torch.distributed as dist

from reproductions.paro.held.ranks import MOMENT_S, TRIES
from reproductions.paro.method.blocks import padded_length
from reproductions.paro.method.cluster import Cluster, Workload, unlinked
from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups
from reproductions.paro.method.memory import memory_of
from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.strategy import EFFECTIVE, strategy_of
from reproductions.paro.method.traffic import step_traffic
from reproductions.paro.models.gloo_ranks import on_ranks
from reproductions.paro.models.storages import bytes_by_storage
from tests.reproductions.paro.method.engine.nets import Net, freeze, loss_of, micro_batch

ADAM = partial(torch.optim.Adam, lr=1e-2)
MIXED = Precision(param_dtype=torch.bfloat16)
MICRO_STEPS = 2
SINGLE_BYTES = 8
CLUSTER = unlinked(4, 2)


def sizes(cluster: Cluster) -> tuple[int, int]:
    """Return all parameters and the trained ones, each unit's padded by itself."""
    net = Net()
    freeze(net)
    units = [list(block.parameters()) for block in net.blocks]
    inside = {id(param) for unit in units for param in unit}
    units.append([param for param in net.parameters() if id(param) not in inside])
    counts = {
        trained: sum(
            padded_length(
                sum(p.numel() for p in unit if p.requires_grad is trained), cluster.num_gpus
            )
            for unit in units
        )
        for trained in (True, False)
    }
    assert sum(counts.values()) > sum(param.numel() for param in net.parameters())
    return sum(counts.values()), counts[True]


def workload(cluster: Cluster, *, number_bytes: int, state_bytes: int) -> Workload:
    total, trained = sizes(cluster)
    return Workload(
        num_params=total, trainable_share=trained / total, accumulation=MICRO_STEPS,
        param_bytes=number_bytes, grad_bytes=number_bytes, state_bytes=state_bytes,
    )  # fmt: skip


CASES = [
    *((str(strategy), "two-layer", True) for strategy in EFFECTIVE),
    *((letters, "flat", False) for letters in ("NNN", "NIG", "IGG", "GGG")),
]
"""Letters, how collectives go, and whether there is a copy in higher precision."""


def count_on_rank() -> list[dict[str, Any]]:
    mesh = mesh_of_groups(CLUSTER.group_size)
    return [count(mesh, *case) for case in CASES]


def count(mesh: Any, letters: str, world: Any, is_mixed: bool) -> dict[str, Any]:
    """Train two steps and count in the second, when Adam has its moments."""
    net = Net(torch.float32)
    freeze(net)
    precision = MIXED if is_mixed else Precision()
    engine = Paro(net, mesh, letters, optimizer=ADAM, collectives=world, precision=precision)
    held = []
    for step in range(2):
        engine.collectives.wire.sent_bytes.clear()
        for k in range(MICRO_STEPS):
            engine.backward(loss_of(net, micro_batch(step, k, dist.get_rank())))
            held += [held_bytes()] if step else []
        engine.step()
    held.append(held_bytes())
    rows = [
        [what.purpose.term, what.purpose.collective.kind, what.purpose.collective.scope,
         what.leaves_group, size]
        for what, size in engine.collectives.wire.sent_bytes.items()
    ]  # fmt: skip
    return {"letters": letters, "world": world, "is_mixed": is_mixed, "held": held, "sent": rows}


def held_bytes() -> int:
    """Return the bytes of all tensors of numbers in this process.

    Single numbers are left out: Adam's counts of steps, and what stands for parameters that are
    elsewhere. The least of some tries: a thread of gloo lets go of a buffer a moment late.
    """
    tries = []
    gc.collect()
    for _ in range(TRIES):
        time.sleep(MOMENT_S)
        held = [each for each in gc.get_objects() if isinstance(each, torch.Tensor)]
        sizes = bytes_by_storage(each for each in held if each.is_floating_point())
        tries.append(sum(size for size in sizes.values() if size > SINGLE_BYTES))
    return min(tries)


def test_bytes_are_the_formulas() -> None:
    counted = list(zip(*on_ranks(count_on_rank, CLUSTER.num_gpus), strict=True))
    assert len(counted) == len(CASES)
    for ranks in counted:
        check_held(ranks)
        check_sent(ranks)


def check_held(ranks: tuple[dict[str, Any], ...]) -> None:
    """Without a copy in higher precision Adam holds two moments; with one, 12 bytes in all."""
    number, states = (2, 12) if ranks[0]["is_mixed"] else (4, 8)
    load = workload(CLUSTER, number_bytes=number, state_bytes=states)
    wanted = memory_of(strategy_of(ranks[0]["letters"]), load, CLUSTER).total
    for rank in ranks:
        assert rank["held"] == [wanted] * 3, rank["letters"]


def check_sent(ranks: tuple[dict[str, Any], ...]) -> None:
    """Operation by operation: what leaves the first group, and the most that a rank sends in it."""
    m = CLUSTER.group_size
    load = workload(CLUSTER, number_bytes=2 if ranks[0]["is_mixed"] else 4, state_bytes=8)
    world: Any = "hier" if ranks[0]["world"] == "two-layer" else "flat"
    steps = list(schedule(strategy_of(ranks[0]["letters"])))
    keys = {(s.term, s.collective.kind, s.collective.scope): s.collective for s in steps}
    sent = [Counter[Any]() for _ in ranks]
    for rank, counts in zip(ranks, sent, strict=True):
        for *key, leaves, size in rank["sent"]:
            counts[tuple(key), leaves] += size
    assert {key for counts in sent for key, _ in counts} == keys.keys()
    for key, found in keys.items():
        own = [s for s in steps if (s.term, s.collective) == (key[0], found)]
        wanted = step_traffic(own, load, CLUSTER, world)
        out = sum(counts[key, True] for counts in sent[:m])
        inside = max(counts[key, False] for counts in sent[:m])
        assert (out, inside) == pytest.approx((wanted.between, wanted.within)), key
