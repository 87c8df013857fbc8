"""Every collective once, run on labels: what it finds, what it leaves, what it sends."""

from __future__ import annotations

import numpy as np

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
from reproductions.paro.collectives.routes import everyone, held_by, own_parts
from reproductions.paro.method.strategy import GRANULARITIES


def sample_rows(num_gpus: int, group_size: int) -> list[Row]:
    """Return a row per collective, from the coarsest state that it applies to."""
    flat = Net(num_gpus=num_gpus, group_size=group_size)
    layered = Net(num_gpus=num_gpus, group_size=group_size, world="sequential")
    rows: list[Row] = []
    for move in MOVES:
        before = start_of(move, flat)
        after, one_ring = done(move, before, flat)
        same, in_layers = done(move, before, layered)
        fewer = in_layers.of_gpu(leaves=True) < one_ring.of_gpu(leaves=True)
        rows.append({
            "operation": move.operation, "among": move.among,
            "ranks": flat.rings(move.among).shape[1],
            "before": described(before, flat), "after": described(after, flat),
            "inter_blocks": one_ring.of_gpu(leaves=True),
            "intra_blocks": one_ring.of_gpu(leaves=False),
            "paro_cc_inter_blocks": in_layers.of_gpu(leaves=True),
            "paro_cc_intra_blocks": in_layers.of_gpu(leaves=False),
            "paro_cc": "yes" if fewer else "no",
            "wrong_blocks": wrong(move, before, after, flat) + wrong(move, before, same, flat),
        })  # fmt: skip
    return rows


def start_of(move: Move, net: Net) -> Held:
    """Return what GPUs hold before: parts of sums, or for a gather what is whole."""
    if move.operation == "all_gather":
        return held_by(net, "I" if move.among == "intra" else "G", everyone(net))
    if move.among != "inter":
        return own_parts(net)
    # Between groups, GPUs of one place reduce what their groups have reduced.
    return done(Move(operation="reduce_scatter", among="intra"), own_parts(net), net)[0]


def done(move: Move, before: Held, net: Net) -> tuple[Held, Traffic]:
    """Return what GPUs hold after a collective, and what it sent in blocks."""
    if not can(move, before, net):
        raise AssertionError(f"{move} has nothing to do")
    after, traffic = before.copy(), Traffic(net=net)
    run(move, after, traffic)
    return after, traffic


def described(held: Held, net: Net) -> str:
    """Return what GPUs hold in words: the granularity, and whose parts are in its sums."""
    split = next(g for g in GRANULARITIES if (held.there_NB == net.owned(g)).all())
    (count, *_) = (int(label).bit_count() for label in held.values_NBE[held.there_NB].flat)
    sums = {1: "own parts", net.group_size: "sums of a group", net.num_gpus: "whole"}
    return f"{split}, {sums[count]}"


def wrong(move: Move, before: Held, after: Held, net: Net) -> int:
    """Return how many blocks are not what one process computes for them, from its ring's GPUs."""
    wanted, right = after.there_NB.copy(), np.zeros_like(after.values_NBE)
    for ring in net.rings(move.among):
        right[ring] = before.values_NBE[ring].sum(axis=0)
        wanted[ring] = before.there_NB[ring].any(axis=0)
    if move.operation == "reduce_scatter":
        wanted &= chunks_of(move, before, net)
    unlike = (after.values_NBE != right * wanted[..., None]).any(axis=2)
    return int((unlike | (after.there_NB != wanted)).sum())
