"""Every collective once, run on labels: what it finds, what it leaves, what it sends."""

from __future__ import annotations

from harness.declare import Row
from reproductions.paro.collectives.messages import (
    MOVES,
    Held,
    Move,
    Net,
    Traffic,
    can,
    chunks_of,
    run,
)
from reproductions.paro.collectives.routes import held_by
from reproductions.paro.method.strategy import GRANULARITIES, Granularity


def sample_rows(num_gpus: int, group_size: int) -> list[Row]:
    """Return a row per collective, from the coarsest state that it applies to."""
    flat = Net(num_gpus=num_gpus, group_size=group_size)
    layered = Net(num_gpus=num_gpus, group_size=group_size, world="sequential")
    rows: list[Row] = []
    for move in MOVES:
        before = start_of(move, flat)
        after, one_ring = done(move, before, flat)
        same, in_layers = done(move, before, layered)
        rows.append({
            "operation": move.operation, "among": move.among,
            "ranks": len(flat.rings(move.among)[0]),
            "before": described(before, flat), "after": described(after, flat),
            "inter_blocks": one_ring.of_gpu(leaves=True),
            "intra_blocks": one_ring.of_gpu(leaves=False),
            "paro_cc_inter_blocks": in_layers.of_gpu(leaves=True),
            "paro_cc_intra_blocks": in_layers.of_gpu(leaves=False),
            "paro_cc": "yes" if in_layers.of_gpu(leaves=True) < one_ring.of_gpu(leaves=True)
            else "no",
            "wrong_blocks": wrong(move, before, after, flat) + wrong(move, before, same, flat),
        })  # fmt: skip
    return rows


def start_of(move: Move, net: Net) -> Held:
    """Return what GPUs hold before: parts of sums, or for a gather what is whole."""
    if move.operation == "all_gather":
        split: Granularity = "I" if move.among == "intra" else "G"
        return held_by(net, split, lambda gpu: (1 << net.num_gpus) - 1)
    own = held_by(net, "N", lambda gpu: 1 << gpu)
    if move.among != "inter":
        return own
    # Between groups, GPUs of one place reduce what their groups have reduced.
    return done(Move(operation="reduce_scatter", among="intra"), own, net)[0]


def done(move: Move, before: Held, net: Net) -> tuple[Held, Traffic]:
    """Return what GPUs hold after a collective, and what it sent in blocks."""
    if not can(move, before, net):
        raise AssertionError(f"{move} has nothing to do")
    after, traffic = [dict(blocks) for blocks in before], Traffic(net=net)
    run(move, after, traffic)
    return after, traffic


def described(held: Held, net: Net) -> str:
    """Return what GPUs hold in words: the granularity, and whose parts are in its sums."""
    split = next(g for g in GRANULARITIES
                 if [sorted(b) for b in held] == [sorted(o) for o in net.owned(g)])  # fmt: skip
    bits = {label.bit_count() for blocks in held for (label,) in blocks.values()}
    sums = {1: "own parts", net.group_size: "sums of a group", net.num_gpus: "whole"}
    return f"{split}, {sums[bits.pop()]}"


def wrong(move: Move, before: Held, after: Held, net: Net) -> int:
    """Return how many blocks are not what one process computes for them, from its ring's GPUs."""
    found = 0
    chunks = chunks_of(move, before, net)
    for ring in net.rings(move.among):
        sums: dict[int, int] = {}
        for number in {number for gpu in ring for number in before[gpu]}:
            labels = [before[gpu][number][0] for gpu in ring if number in before[gpu]]
            sums[number] = sum(labels)
        for gpu in ring:
            wanted = chunks[gpu] if move.operation == "reduce_scatter" else list(sums)
            right = {number: (sums[number],) for number in wanted}
            found += len(right.items() ^ after[gpu].items())
    return found
