"""A step counted message by message, beside what the formulas say of it."""

from __future__ import annotations

from harness.declare import Row
from reproductions.paro.collectives.experiment import Counted
from reproductions.paro.collectives.messages import Net
from reproductions.paro.collectives.messages import World as Ways
from reproductions.paro.collectives.routes import gather_route, reduce_route, sync_route
from reproductions.paro.collectives.simulated_step import Job, SimulatedStep
from reproductions.paro.method.cluster import Cluster, Workload, unlinked
from reproductions.paro.method.memory import memory_of
from reproductions.paro.method.schedule import TERMS, Collective, schedule
from reproductions.paro.method.step_time import World
from reproductions.paro.method.strategy import Strategy
from reproductions.paro.method.traffic import DIGITS, step_traffic

WAYS: dict[World, Ways] = {"flat": "flat", "hier": "sequential"}
"""How the messages of all GPUs' collectives go. PaRO-CC's phases send the same bytes whether they
overlap, as in the formula, or not."""


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
