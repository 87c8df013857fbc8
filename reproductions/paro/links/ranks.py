"""What each rank does on the testbed: send messages or gather blocks, and say from when to when.

Ranks read one clock, that of their machine, so that a sample lasts from the first rank's start to
the last one's end.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from reproductions.paro.links.experiment import ALGORITHMS, Algorithm, Case, Rings, Scope
from reproductions.paro.method.engine.collectives import Collectives
from reproductions.paro.method.engine.groups import Groups, Peers, mesh_of_groups
from reproductions.paro.method.engine.transport import Library
from reproductions.paro.method.engine.wire import Part, Purpose, Wire
from reproductions.paro.method.schedule import Collective
from reproductions.paro.method.testbed.network import sent_bytes

GATHER = Collective(kind="all_gather", scope="world")
Sample = dict[str, Any]
Gatherer = tuple[Wire, Callable[[list[Part]], None]]
"""An algorithm's wire, and what gathers the parts of all ranks."""
PROBES: tuple[tuple[Scope, Rings], ...] = (("within", "all"), ("between", "one"))
"""Rings whose bandwidths a prediction starts from."""
PROBE_MESSAGES = 4


def time_messages(*, cases: list[dict[str, Any]], num_samples: int) -> list[list[Sample | None]]:
    """Return samples by case; None of a case that this rank has no part in."""
    wire = Wire(_groups())
    return [
        [_message_sample(wire, Case(**case)) for _ in range(num_samples + 1)][1:] for case in cases
    ]


def _groups() -> Groups:
    return Groups(mesh_of_groups(int(os.environ["LOCAL_WORLD_SIZE"])))


def _message_sample(wire: Wire, case: Case) -> Sample | None:
    """Send a case's messages once; all ranks wait for each other before."""
    groups = wire.groups
    peers = groups.peers("intra" if case.scope == "within" else "inter")
    # Ranks of a ring have numbers in its order, so that this one's is their first's.
    takes_part = case.rings == "all" or 0 in peers.ranks
    if case.via == "gloo":
        takes_part &= peers.place < 2
    out = torch.full((case.message_bytes,), groups.rank + 1, dtype=torch.uint8)
    into = torch.zeros_like(out)
    wire.purpose = Purpose("test", GATHER)
    dist.barrier()
    if not takes_part:
        return None
    start = time.monotonic()
    for _ in range(case.num_messages):
        _send(wire, peers, case, out, into)
    end = time.monotonic()
    sender = peers.after(-1) if case.via == "ring" else peers.ranks[0]
    receives = case.via == "ring" or peers.place == 1
    wrong = int((into != sender + 1).sum()) if receives else 0
    return {"start": start, "end": end, "wrong_bytes": wrong}


def _send(wire: Wire, peers: Peers, case: Case, out: Tensor, into: Tensor) -> None:
    if case.via == "ring":
        wire.exchange(out, into, peers)()
    elif peers.place == 0:
        dist.send(out, peers.ranks[1], group=peers.group)
    else:
        dist.recv(into, peers.ranks[0], group=peers.group)


def time_gathers(
    *, block_bytes: int, num_samples: int, num_blocks: int, seed: int
) -> list[dict[str, Any]]:
    """Return by block samples of messages of a part's size, and then of every algorithm in turn."""
    groups = _groups()
    wire = Wire(groups)
    gathers = {algorithm: _gather_by(algorithm, groups) for algorithm in ALGORITHMS}
    turns = random.Random(seed)
    return [
        _block(wire, gathers, turns, block_bytes=block_bytes, num_samples=num_samples)
        for _ in range(num_blocks)
    ]


def _block(
    wire: Wire, gathers: dict[Algorithm, Gatherer], turns: random.Random, *, block_bytes: int,
    num_samples: int,
) -> dict[str, Any]:  # fmt: skip
    """Time known bytes, then every algorithm in turn; what comes first in each is not counted.

    turns: draws the same order on all ranks, so that none of the algorithms always follows another.
    """
    probes = [
        Case(
            scope=scope,
            rings=rings,
            via="ring",
            message_bytes=block_bytes,
            num_messages=PROBE_MESSAGES,
        )
        for scope, rings in PROBES
    ]
    found: dict[str, Any] = {
        "probes": [[_message_sample(wire, case) for _ in range(num_samples + 1)][1:]
                   for case in probes]
    }  # fmt: skip
    samples: dict[Algorithm, list[Sample]] = {algorithm: [] for algorithm in gathers}
    for _ in range(num_samples + 1):
        for algorithm in turns.sample(list(gathers), len(gathers)):
            own_wire, gather = gathers[algorithm]
            samples[algorithm].append(_gather_sample(wire.groups, own_wire, gather, block_bytes))
    return found | {algorithm: own[1:] for algorithm, own in samples.items()}


def _gather_by(algorithm: Algorithm, groups: Groups) -> Gatherer:
    """Return an algorithm's wire and what gathers parts of all ranks."""
    if algorithm == "gloo":
        wire = Wire(groups)
        wire.purpose = Purpose("test", GATHER)
        library = Library(wire)
        return wire, lambda parts: library.all_gather(parts, groups.peers("world"))
    collectives = Collectives(groups, algorithm)
    return collectives.wire, lambda parts: collectives.run_on(GATHER, parts, term="test")


def _gather_sample(
    groups: Groups, wire: Wire, gather: Callable[[list[Part]], None], block_bytes: int
) -> Sample:
    """Gather once; all ranks wait for each other before and after."""
    whole = torch.zeros(groups.cluster.num_gpus, block_bytes, dtype=torch.uint8)
    whole[groups.rank] = groups.rank + 1
    booked = _left(wire)
    dist.barrier()
    before = sent_bytes()
    # Nobody sends until all ranks of a node have read its count.
    dist.barrier()
    start = time.monotonic()
    gather([[block] for block in whole])
    end = time.monotonic()
    dist.barrier()
    after = sent_bytes()
    wanted = torch.arange(1, len(whole) + 1, dtype=torch.uint8)[:, None]
    return {
        "start": start,
        "end": end,
        "wrong_bytes": int((whole != wanted).sum()),
        "booked_bytes": _left(wire) - booked,
        "counted_bytes": None if before is None or after is None else after - before,
    }


def _left(wire: Wire) -> int:
    """Return the bytes that were booked out of this rank's group so far."""
    return sum(count for kind, count in wire.sent_bytes.items() if kind.leaves_group)
