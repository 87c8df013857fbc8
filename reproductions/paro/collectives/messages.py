"""Collectives as messages of blocks from one GPU to the next, every byte counted.

It knows no formula of the method: rings are walked hop by hop, on the blocks' contents.
Letters: N GPUs, and as many blocks B of a state; R rings of K GPUs each; E entries of a block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Literal, get_args

import numpy as np

from reproductions.paro.method.blocks import Numbering, blocks_of
from reproductions.paro.method.cluster import unlinked
from reproductions.paro.method.strategy import Granularity

Operation = Literal["all_gather", "reduce_scatter", "all_reduce"]
Among = Literal["world", "intra", "inter"]
World = Literal["flat", "sequential"]
"""How a collective of all GPUs runs. flat: one ring, group after group. sequential: PaRO-CC, rings
between groups and rings within them, one phase after another."""
SPLIT: dict[Among, Granularity] = {"world": "G", "intra": "I", "inter": "G"}
"""Where a reduction among some GPUs leaves what it reduced."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Net:
    """GPUs in groups, and how collectives of all of them run."""

    num_gpus: int
    group_size: int
    numbering: Numbering = "contiguous"
    world: World = "flat"

    def rings(self, among: Among) -> np.ndarray:
        """Return the rings that run at the same time, each in order of rank: (R, K)."""
        everyone = np.arange(self.num_gpus)
        if among == "world":
            return everyone[None]
        groups = everyone.reshape(-1, self.group_size)
        return groups if among == "intra" else groups.T

    def blocks(self, granularity: Granularity) -> np.ndarray:
        """Return GPU by GPU the numbers of the blocks that it holds."""
        return _blocks(self, granularity)

    def marked(self, blocks: np.ndarray) -> np.ndarray:
        """Return blocks that are given by number, GPU by GPU, as marks: (N, B)."""
        marks = np.zeros((self.num_gpus, self.num_gpus), bool)
        marks[np.arange(self.num_gpus)[:, None], blocks] = True
        return marks

    def owned(self, granularity: Granularity) -> np.ndarray:
        """Return which blocks each GPU holds: (N, B)."""
        return self.marked(self.blocks(granularity))


@cache
def _blocks(net: Net, granularity: Granularity) -> np.ndarray:
    cluster = unlinked(net.num_gpus, net.group_size)
    return np.array([
        blocks_of(granularity, *divmod(gpu, net.group_size), cluster, net.numbering)
        for gpu in range(net.num_gpus)
    ])  # fmt: skip


@dataclass(slots=True)
class Held:
    """What GPUs hold of a state; integers, so that a sum is the same in any order."""

    values_NBE: np.ndarray
    there_NB: np.ndarray
    """Which blocks a GPU has."""

    def copy(self) -> Held:
        return Held(self.values_NBE.copy(), self.there_NB.copy())

    def only(self, marks_NB: np.ndarray) -> Held:
        """Return what is held of some blocks."""
        return Held(self.values_NBE * marks_NB[..., None], self.there_NB & marks_NB)


@dataclass(kw_only=True, slots=True)
class Traffic:
    """What was sent."""

    net: Net
    entry_bytes: int = 1
    sent: np.ndarray = field(init=False)
    """Bytes by whether they left the group, and by the GPU that sent them: (2, N)."""
    steps: int = 0
    """Rounds in which every GPU of a ring sends one message."""

    def __post_init__(self) -> None:
        self.sent = np.zeros((2, self.net.num_gpus), int)

    def round(self, senders: np.ndarray, receivers: np.ndarray, entries: np.ndarray) -> None:
        """Count the messages of one round."""
        m = self.net.group_size
        leaves = (senders // m != receivers // m).astype(int)
        self.sent[leaves, senders] += self.entry_bytes * entries
        self.steps += 1

    def of_gpu(self, *, leaves: bool | None = None) -> int:
        """Return what the busiest GPU sent, out of its group or within it; in all by default."""
        sent = self.sent.sum(axis=0) if leaves is None else self.sent[int(leaves)]
        return int(sent.max())

    @property
    def of_link(self) -> int:
        """Return what left the busiest group."""
        return int(self.sent[1].reshape(-1, self.net.group_size).sum(axis=1).max())


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Move:
    """A collective, on all GPUs at once."""

    operation: Operation
    among: Among

    def __str__(self) -> str:
        return f"{self.among} {self.operation.replace('_', '-')}"


MOVES = tuple(Move(operation=operation, among=among)
              for among in get_args(Among) for operation in get_args(Operation))  # fmt: skip


def can(move: Move, held: Held, net: Net) -> bool:
    """Return whether a collective makes sense: something to gather, or sums to add up.

    held: labels; a bit of a label says whose part a sum holds.
    """
    rings = net.rings(move.among)
    chunks_RKB = chunks_of(move, held, net)[rings]
    sizes = chunks_RKB.sum(axis=2)
    if rings.shape[1] == 1 or (chunks_RKB.sum(axis=1) > 1).any() or (sizes != sizes[:, :1]).any():
        return False
    if move.operation == "all_gather":
        return True
    # GPUs hold the same blocks, and different parts of their sums.
    labels_RKB = held.values_NBE[rings, :, 0]
    alike = (held.there_NB[rings] == chunks_RKB.any(axis=1, keepdims=True)).all()
    return bool(alike and (labels_RKB.sum(axis=1) == np.bitwise_or.reduce(labels_RKB, 1)).all())


def chunks_of(move: Move, held: Held, net: Net) -> np.ndarray:
    """Return what every GPU brings to a gather, or is left with after a reduction: (N, B)."""
    return held.there_NB.copy() if move.operation == "all_gather" else net.owned(SPLIT[move.among])


def run(move: Move, held: Held, traffic: Traffic) -> None:
    """Run a collective on what GPUs hold, in place."""
    net, chunks = traffic.net, chunks_of(move, held, traffic.net)
    phases = [(net.rings(move.among), chunks)]
    if move.among == "world" and net.world == "sequential":
        # PaRO-CC gathers between groups, then row by row, a block of each GPU, within them.
        rows = [(net.rings("intra"), net.marked(row[:, None])) for row in net.blocks("I").T]
        phases = [(net.rings("inter"), net.owned("G")), *rows]
    if move.operation != "all_gather":
        for rings, own in reversed(phases):
            ring_reduce_scatter(held, rings, own, traffic)
    if move.operation != "reduce_scatter":
        for rings, own in phases:
            ring_all_gather(held, rings, own, traffic)


def ring_all_gather(held: Held, rings: np.ndarray, chunks: np.ndarray, traffic: Traffic) -> None:
    """Pass chunks on until every GPU of a ring has all of them."""
    places = np.arange(rings.shape[1])
    receivers = rings[:, places + 1 - len(places)]
    for turn in range(len(places) - 1):
        passed = chunks[rings[:, places - turn]]
        message = held.values_NBE[rings]
        traffic.round(rings, receivers, passed.sum(axis=2) * message.shape[-1])
        held.values_NBE[receivers] = np.where(
            passed[..., None], message, held.values_NBE[receivers]
        )
        held.there_NB[receivers] |= passed


def ring_reduce_scatter(
    held: Held, rings: np.ndarray, chunks: np.ndarray, traffic: Traffic
) -> None:
    """Pass sums on, each GPU adding its part, until every GPU of a ring has its own chunk."""
    places = np.arange(rings.shape[1])
    receivers = rings[:, places + 1 - len(places)]
    for turn in range(len(places) - 1):
        passed = chunks[rings[:, places - turn - 1]]
        message = held.values_NBE[rings] * passed[..., None]
        traffic.round(rings, receivers, passed.sum(axis=2) * message.shape[-1])
        held.values_NBE[receivers] += message
    others = chunks[rings].any(axis=1, keepdims=True) & ~chunks[rings]
    held.there_NB[rings] &= ~others
    held.values_NBE[rings] *= ~others[..., None]
