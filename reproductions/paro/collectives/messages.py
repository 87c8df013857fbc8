"""Collectives as messages of blocks from one GPU to the next, every byte counted.

It knows no formula of the method: rings are walked hop by hop, on the blocks' contents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from operator import add
from typing import Literal, get_args

from reproductions.paro.method.blocks import Numbering, blocks_of
from reproductions.paro.method.cluster import unlinked
from reproductions.paro.method.strategy import Granularity

Block = tuple[int, ...]
"""Entries of a block; integers, so that a sum is the same in any order."""
Held = list[dict[int, Block]]
"""GPU by GPU, in order of rank, the blocks that it holds of a state by their numbers."""
Chunks = Sequence[Sequence[int]]
"""GPU by GPU which blocks are its own in a ring."""
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

    def rings(self, among: Among) -> list[list[int]]:
        """Return the rings that run at the same time, each in order of rank."""
        everyone = range(self.num_gpus)
        match among:
            case "world":
                return [list(everyone)]
            case "intra":
                return [list(everyone[i : i + self.group_size])
                        for i in range(0, self.num_gpus, self.group_size)]  # fmt: skip
            case "inter":
                return [list(everyone[place :: self.group_size])
                        for place in range(self.group_size)]  # fmt: skip

    def owned(self, granularity: Granularity) -> list[tuple[int, ...]]:
        """Return GPU by GPU which blocks it holds."""
        cluster = unlinked(self.num_gpus, self.group_size)
        return [
            blocks_of(granularity, *divmod(gpu, self.group_size), cluster, self.numbering)
            for gpu in range(self.num_gpus)
        ]


@dataclass(kw_only=True, slots=True)
class Traffic:
    """What was sent."""

    net: Net
    entry_bytes: int = 1
    sent: Counter[tuple[bool, int]] = field(default_factory=Counter)
    """Bytes by whether they left the group, and by the GPU that sent them."""
    steps: int = 0
    """Rounds in which every GPU of a ring sends one message."""

    def round(self, messages: Iterable[tuple[int, int, dict[int, Block]]]) -> None:
        """Count the messages of one round: sender, receiver, blocks."""
        self.steps += 1
        for sender, receiver, blocks in messages:
            leaves = sender // self.net.group_size != receiver // self.net.group_size
            self.sent[leaves, sender] += self.entry_bytes * sum(map(len, blocks.values()))

    def of_gpu(self, *, leaves: bool | None = None) -> int:
        """Return what the busiest GPU sent, out of its group or within it; in all by default."""
        ways = (True, False) if leaves is None else (leaves,)
        return max(sum(self.sent[way, gpu] for way in ways) for gpu in range(self.net.num_gpus))

    @property
    def of_link(self) -> int:
        """Return what left the busiest group."""
        return max(sum(self.sent[True, gpu] for gpu in ring) for ring in self.net.rings("intra"))


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
    chunks = chunks_of(move, held, net)
    for ring in net.rings(move.among):
        numbers = [number for gpu in ring for number in chunks[gpu]]
        if len(ring) == 1 or len(set(numbers)) < len(numbers):
            return False
        if len({len(chunks[gpu]) for gpu in ring}) > 1:
            return False
        if move.operation != "all_gather" and not _adds_up(ring, set(numbers), held):
            return False
    return True


def _adds_up(ring: Sequence[int], numbers: set[int], held: Held) -> bool:
    """Return whether GPUs hold different parts of the sums of the same blocks."""
    if any(held[gpu].keys() != numbers for gpu in ring):
        return False
    seen = dict.fromkeys(numbers, 0)
    for gpu in ring:
        for number, (label,) in held[gpu].items():
            if seen[number] & label:
                return False
            seen[number] |= label
    return True


def chunks_of(move: Move, held: Held, net: Net) -> Chunks:
    """Return what every GPU brings to a gather, or is left with after a reduction."""
    if move.operation == "all_gather":
        return [sorted(blocks) for blocks in held]
    return net.owned(SPLIT[move.among])


def run(move: Move, held: Held, traffic: Traffic) -> None:
    """Run a collective on what GPUs hold, in place."""
    net, chunks = traffic.net, chunks_of(move, held, traffic.net)
    layered = move.among == "world" and net.world == "sequential"
    if move.operation != "all_gather":
        if layered:
            _reduce_in_layers(held, traffic)
        else:
            ring_reduce_scatter(held, net.rings(move.among), chunks, traffic)
    if move.operation != "reduce_scatter":
        if layered:
            _gather_in_layers(held, traffic)
        else:
            ring_all_gather(held, net.rings(move.among), chunks, traffic)


def rounds(
    held: Held, rings: Sequence[Sequence[int]], chunks: Chunks, traffic: Traffic, *, first: int
) -> Iterator[tuple[int, dict[int, Block]]]:
    """Pass chunks on in rings; yield, message by message, who received which blocks.

    first: how many places before its own a GPU's first chunk belongs.
    """
    size = len(rings[0])
    for turn in range(size - 1):
        messages = []
        for ring in rings:
            for place, gpu in enumerate(ring):
                passed = chunks[ring[(place - first - turn) % size]]
                blocks = {number: held[gpu][number] for number in passed}
                messages.append((gpu, ring[(place + 1) % size], blocks))
        traffic.round(messages)
        yield from ((receiver, blocks) for _, receiver, blocks in messages)


def ring_all_gather(
    held: Held, rings: Sequence[Sequence[int]], chunks: Chunks, traffic: Traffic
) -> None:
    """Pass chunks on until every GPU of a ring has all of them."""
    for receiver, blocks in rounds(held, rings, chunks, traffic, first=0):
        held[receiver].update(blocks)


def ring_reduce_scatter(
    held: Held, rings: Sequence[Sequence[int]], chunks: Chunks, traffic: Traffic
) -> None:
    """Pass sums on, each GPU adding its part, until every GPU of a ring has its own chunk."""
    for receiver, blocks in rounds(held, rings, chunks, traffic, first=1):
        for number, block in blocks.items():
            held[receiver][number] = tuple(map(add, held[receiver][number], block))
    for ring in rings:
        for gpu, other in permutations(ring, 2):
            for number in chunks[other]:
                del held[gpu][number]


def _rows(net: Net) -> list[Chunks]:
    """Return row by row the block that each GPU has in it: one of those it holds under I."""
    sets = net.owned("I")
    return [[(blocks[row],) for blocks in sets] for row in range(len(sets[0]))]


def _gather_in_layers(held: Held, traffic: Traffic) -> None:
    """Gather with PaRO-CC: between groups first, then row by row within them."""
    net = traffic.net
    ring_all_gather(held, net.rings("inter"), net.owned("G"), traffic)
    for row in _rows(net):
        ring_all_gather(held, net.rings("intra"), row, traffic)


def _reduce_in_layers(held: Held, traffic: Traffic) -> None:
    """Reduce with PaRO-CC: row by row within groups, then between them."""
    net = traffic.net
    for row in _rows(net):
        ring_reduce_scatter(held, net.rings("intra"), row, traffic)
    ring_reduce_scatter(held, net.rings("inter"), net.owned("G"), traffic)
