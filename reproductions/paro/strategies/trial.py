"""From parameters to a row per strategy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from harness.declare import Row, RunContext
from reproductions.paro.method.cluster import Workload
from reproductions.paro.method.guideline import Prediction, pareto_front, predict
from reproductions.paro.method.guideline import costs as costs_of
from reproductions.paro.method.step_time import TimeModel, World
from reproductions.paro.method.strategy import ALL, Strategy
from reproductions.paro.models.paper_inputs import ACCUMULATION, MODELS, SHARES, PaperCluster
from reproductions.paro.strategies.experiment import KNOWN_AS, RELEASED, Costs, Sweep

GROUP_SIZES, NUM_GROUPS = (2, 4, 8), (2, 4, 16)
SPEED_RATIOS = (1.0, 2.5, 25.0, 100.0)
"""B' over B; the paper's is 25."""
ACCUMULATIONS = (1, ACCUMULATION)


def sweep_rows(params: Sweep, ctx: RunContext) -> list[Row]:
    """Return how often each strategy is on the front, and what leaving it out costs at most."""
    settings = list(_settings(params.world))
    on_front = {each: 0 for each in ALL}
    for predictions in settings:
        for found in pareto_front(list(predictions.values())):
            on_front[found.strategy] += 1
    return [
        {
            **_letters(strategy),
            "effective": int(strategy.is_effective),
            "reason": strategy.reason,
            "kept_instead": strategy.kept.letters,
            "known_as": KNOWN_AS.get(strategy.letters, ""),
            "in_released_code": int(strategy.letters in RELEASED),
            "num_settings": len(settings),
            "num_on_front": on_front[strategy],
            "largest_saving": max(_saving(strategy, found) for found in settings),
            "least_memory_ratio": min(_memory_ratio(strategy, found) for found in settings),
        }
        for strategy in ALL
    ]


def _letters(strategy: Strategy) -> dict[str, str]:
    return {
        "strategy": strategy.letters, "p": strategy.params, "g": strategy.grads,
        "os": strategy.states,
    }  # fmt: skip


def _settings(world: World) -> Iterator[dict[Strategy, Prediction]]:
    """Yield what all strategies take, setting by setting."""
    axes = (GROUP_SIZES, NUM_GROUPS, SPEED_RATIOS, ACCUMULATIONS, SHARES.values())
    for group_size, num_groups, ratio, accumulation, share in product(*axes):
        within = PaperCluster().inter_gbit_per_s * ratio
        links = PaperCluster(group_size=group_size, intra_gbit_per_s=within)
        workload = Workload(
            num_params=MODELS["LLaMA-7B"], trainable_share=share, accumulation=accumulation
        )
        cluster = links.cluster(group_size * num_groups)
        found = predict(workload, cluster, TimeModel(world=world), strategies=ALL)
        yield {each.strategy: each for each in found}


def _saving(strategy: Strategy, found: dict[Strategy, Prediction]) -> float:
    """Return by which share of its time a strategy is faster than the one that is kept."""
    (own, _), (kept, _) = costs_of(found[strategy]), costs_of(found[strategy.kept])
    return round(1.0 - own / kept, 9)


def _memory_ratio(strategy: Strategy, found: dict[Strategy, Prediction]) -> float:
    return found[strategy].memory.total / found[strategy.kept].memory.total


def cost_rows(params: Costs, ctx: RunContext) -> list[Row]:
    """Return every strategy's communication and memory, with one ring and with PaRO-CC."""
    cluster = params.cluster(params.num_gpus)
    workload = Workload(
        num_params=params.num_params, trainable_share=params.trainable_share,
        accumulation=params.accumulation,
    )  # fmt: skip
    worlds: tuple[World, ...] = ("flat", "hier")
    return [
        {
            **_letters(found.strategy),
            "world": world,
            "effective": int(found.strategy.is_effective),
            "comm_s": found.time.comm,
            "memory_bytes": found.memory.total,
        }
        for world in worlds
        for found in predict(workload, cluster, TimeModel(world=world), strategies=ALL)
    ]
