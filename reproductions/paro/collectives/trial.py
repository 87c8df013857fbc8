"""From parameters to rows: who holds what, what collectives do, what terms and steps take."""

from __future__ import annotations

from itertools import product

from harness.declare import Row, RunContext
from reproductions.paro.collectives.closed_forms import SUMS, closed_form_s, in_symbols
from reproductions.paro.collectives.experiment import (
    SMALL_CLUSTERS,
    Counted,
    Inputs,
    Numbered,
    Sample,
)
from reproductions.paro.collectives.samples import sample_rows
from reproductions.paro.collectives.step_counts import compared
from reproductions.paro.method.blocks import blocks_of
from reproductions.paro.method.cluster import Workload, unlinked
from reproductions.paro.method.schedule import TERMS, Term, schedule
from reproductions.paro.method.step_time import TimeModel, World, step_time
from reproductions.paro.method.strategy import ALL, GRANULARITIES, strategy_of
from reproductions.paro.method.traffic import step_traffic

WORLDS: tuple[World, ...] = ("flat", "hier")
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
    """Return what every collective makes of what GPUs hold, and what it sends."""
    return sample_rows(params.num_gpus, params.group_size)


def term_rows(params: Inputs, ctx: RunContext) -> list[Row]:
    """Return every term's seconds and bytes of one turn, by the method and in closed form."""
    workload = Workload(num_params=params.num_params, trainable_share=params.trainable_share)
    cluster = params.cluster(params.num_gpus)
    rows: list[Row] = []
    for world, term in product(WORLDS, TERMS):
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
    return [compared(params, strategy, world) for world in WORLDS for strategy in ALL]
