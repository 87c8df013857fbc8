"""From parameters to rows: who holds what, what collectives do, what terms and steps take."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from harness.declare import Row, RunContext
from reproductions.paro.collectives.closed_forms import SUMS, closed_form_s, in_symbols
from reproductions.paro.collectives.experiment import (
    SMALL_CLUSTERS,
    Counted,
    Inputs,
    Numbered,
    Sample,
)
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
from reproductions.paro.collectives.messages import World as Ways
from reproductions.paro.collectives.routes import (
    everyone,
    gather_route,
    held_by,
    own_parts,
    reduce_route,
    sync_route,
)
from reproductions.paro.collectives.simulated_step import Job, SimulatedStep
from reproductions.paro.method.blocks import blocks_of
from reproductions.paro.method.cluster import Cluster, Workload, unlinked
from reproductions.paro.method.memory import memory_of
from reproductions.paro.method.schedule import TERMS, Collective, Term, schedule
from reproductions.paro.method.step_time import TimeModel, World, step_time
from reproductions.paro.method.strategy import ALL, GRANULARITIES, Strategy, strategy_of
from reproductions.paro.method.traffic import DIGITS, step_traffic

WAYS: dict[World, Ways] = {"flat": "flat", "hier": "sequential"}
"""How the messages of all GPUs' collectives go. PaRO-CC's phases send the same bytes whether they
overlap, as in the formula, or not."""
ANY_WITH: dict[Term, str] = {
    "param": "{0}NN", "gradient": "N{0}N", "sync_g": "N{0}{1}", "sync_p": "{0}N{1}",
}  # fmt: skip
"""Letters of a strategy that has a term between granularities: no other letter enters it."""


def block_rows(params: Numbered, ctx: RunContext) -> list[Row]:
    """Return which blocks every GPU holds, on clusters of several shapes."""
    rows: list[Row] = []
    for num_gpus, group_size in SMALL_CLUSTERS:
        cluster = unlinked(num_gpus, group_size)
        places = product(GRANULARITIES, range(cluster.num_groups), range(group_size))
        for granularity, group, local in places:
            held = blocks_of(granularity, group, local, cluster, params.numbering)
            rows.append({
                "num_gpus": num_gpus, "group_size": group_size, "granularity": granularity,
                "group": group, "local": local, "block_ids": " ".join(map(str, held)),
            })  # fmt: skip
    return rows


def collective_rows(params: Sample, ctx: RunContext) -> list[Row]:
    """Return a row per collective, run on labels from the coarsest state that it applies to."""
    flat = Net(num_gpus=params.num_gpus, group_size=params.group_size)
    layered = replace(flat, world="sequential")
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


def term_rows(params: Inputs, ctx: RunContext) -> list[Row]:
    """Return every term's seconds and bytes of one turn, by the method and in closed form."""
    workload = Workload(num_params=params.num_params, trainable_share=params.trainable_share)
    cluster = params.cluster(params.num_gpus)
    rows: list[Row] = []
    for world, term in product(WAYS, TERMS):
        for letters in SUMS[term]:
            strategy = strategy_of(ANY_WITH[term].format(*letters))
            by_method = step_time(strategy, workload, cluster, TimeModel(world=world))
            steps = [step for step in schedule(strategy) if step.term == term]
            moved = step_traffic(steps, workload, cluster, world)
            rows.append({
                "term": term, "held": letters[0], "states": letters[1:] or "-", "world": world,
                "symbols": in_symbols(term, letters), "value_s": by_method.terms[term],
                "closed_form_s": closed_form_s(term, letters, workload, cluster, world),
                "inter_bytes": round(moved.between_by_one), "intra_bytes": round(moved.within),
            })  # fmt: skip
    return rows


def step_rows(params: Counted, ctx: RunContext) -> list[Row]:
    """Return what a step of each of the 27 sends and holds, counted, beside the formulas."""
    return [compared(params, strategy, world) for world in WAYS for strategy in ALL]


def compared(point: Counted, strategy: Strategy, world: World) -> Row:
    """Return what a step sent and what it should have by the formulas: the largest differences."""
    net = Net(
        num_gpus=point.num_gpus, group_size=point.group_size, numbering=point.numbering,
        world=WAYS[world],
    )  # fmt: skip
    job = Job(net=net, num_trainable=point.num_trainable, num_frozen=point.num_frozen,
              accumulation=point.accumulation)  # fmt: skip
    step = SimulatedStep(job=job, strategy=strategy).take()
    return {
        "world": world, "strategy": strategy.letters,
        "inter_bytes": sum(part.of_gpu(leaves=True) for part in step.traffic.values()),
        "intra_bytes": sum(part.of_gpu(leaves=False) for part in step.traffic.values()),
        "link_bytes": sum(part.of_link for part in step.traffic.values()),
        "rounds": sum(part.steps for part in step.traffic.values()),
        "held_bytes": step.held_bytes,
        "params_bytes": job.param_bytes * sum(job.padded),
        "wrong_blocks": step.wrong_blocks,
        "other_collectives": other_collectives(strategy, net),
        **differences(step, strategy, world),
    }  # fmt: skip


def differences(step: SimulatedStep, strategy: Strategy, world: World) -> dict[str, float]:
    """Return the largest differences over terms, of counted bytes and rounds from the formulas."""
    job, net = step.job, step.job.net
    trainable, frozen = job.padded
    workload = Workload(
        num_params=trainable + frozen, trainable_share=trainable / (trainable + frozen),
        accumulation=job.accumulation,
    )  # fmt: skip
    cluster = unlinked(net.num_gpus, net.group_size)
    found: dict[str, list[float]] = {"inter": [], "intra": [], "link": [], "round": []}
    for term in TERMS:
        counted, steps = step.traffic[term], [s for s in schedule(strategy) if s.term == term]
        formula = step_traffic(steps, workload, cluster, world)
        turns = sum(
            (job.accumulation if each.per_micro_batch else 1)
            * rounds_of(each.collective, cluster, world)
            for each in steps
        )
        found["inter"].append(counted.of_gpu(leaves=True) - formula.between_by_one)
        found["intra"].append(counted.of_gpu(leaves=False) - formula.within)
        found["link"].append(counted.of_link - formula.between)
        found["round"].append(counted.steps - turns)
    found["held"] = [step.held_bytes - memory_of(strategy, workload, cluster).total]
    return {f"{name}_difference": round(max(map(abs, all_of)), DIGITS)
            for name, all_of in found.items()}  # fmt: skip


def rounds_of(collective: Collective, cluster: Cluster, world: World) -> int:
    """Return the rounds in which every GPU of a ring sends one message, ring after ring."""
    times = 2 if collective.kind == "all_reduce" else 1
    if collective.scope == "world" and world == "hier":
        groups = cluster.num_groups
        return times * (groups - 1 + groups * (cluster.group_size - 1))
    return times * (collective.ranks(cluster) - 1)


def other_collectives(strategy: Strategy, net: Net) -> int:
    """Return in how many terms other collectives were found to send least than the schedule has.

    Without groups, or with one alone, several collectives are the same, and none is counted.
    """
    if net.group_size in (1, net.num_gpus):
        return 0
    found = {
        "param": 2 * gather_route(net, strategy.params, "N"),
        "gradient": reduce_route(net, strategy.grads),
        "sync_g": sync_route(net, strategy.grads, strategy.states),
        "sync_p": gather_route(net, strategy.states, strategy.params),
    }
    told = {
        term: [
            (s.collective.kind, s.collective.scope) for s in schedule(strategy) if s.term == term
        ]
        for term in found
    }
    return sum([(move.operation, move.among) for move in route] != told[term]
               for term, route in found.items())  # fmt: skip
