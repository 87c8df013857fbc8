"""From parameters to rows: who holds what, what collectives do, what terms and steps take."""

from __future__ import annotations

from itertools import product
from typing import get_args

from harness.declare import Row, RunContext
from reproductions.paro.collectives.closed_forms import SUMS, closed_form_s, in_symbols
from reproductions.paro.collectives.experiment import (
    SMALL_CLUSTERS,
    Counted,
    Inputs,
    Numbered,
    Sample,
)
from reproductions.paro.collectives.formulas import sent
from reproductions.paro.collectives.samples import sample_rows
from reproductions.paro.collectives.step_counts import compared
from reproductions.paro.method.blocks import blocks_of
from reproductions.paro.method.cluster import Workload, unlinked
from reproductions.paro.method.schedule import Term
from reproductions.paro.method.step_time import TimeModel, World, step_time
from reproductions.paro.method.strategy import ALL, GRANULARITIES, Strategy, strategy_of

WORLDS: tuple[World, ...] = ("flat", "hier")


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


def strategy_for(term: Term, letters: str) -> Strategy:
    """Return a strategy that has a term between these granularities: no other letter enters it."""
    match term:
        case "param":
            return strategy_of(f"{letters}NN")
        case "gradient":
            return strategy_of(f"N{letters}N")
        case "sync_g":
            return strategy_of(f"N{letters}")
        case "sync_p":
            return strategy_of(f"{letters[0]}N{letters[1]}")


def term_rows(params: Inputs, ctx: RunContext) -> list[Row]:
    """Return every term's seconds and bytes, by the method and in closed form."""
    workload = Workload(num_params=params.num_params, trainable_share=params.trainable_share)
    cluster = params.cluster(params.num_gpus)
    rows: list[Row] = []
    for world, term in product(WORLDS, get_args(Term)):
        for letters in SUMS[term]:
            strategy = strategy_for(term, letters)
            by_method = step_time(strategy, workload, cluster, TimeModel(world=world))
            moved = sent(strategy, workload, cluster, world)[term]
            rows.append({
                "term": term, "held": letters[0], "states": letters[1:] or "-", "world": world,
                "symbols": in_symbols(term, letters), "value_s": by_method.terms[term],
                "closed_form_s": closed_form_s(term, letters, workload, cluster, world),
                "inter_bytes": round(moved.inter_bytes), "intra_bytes": round(moved.intra_bytes),
            })  # fmt: skip
    return rows


def step_rows(params: Counted, ctx: RunContext) -> list[Row]:
    """Return what a step of each of the 27 sends and holds, counted, beside the formulas."""
    return [compared(params, strategy, world) for world in WORLDS for strategy in ALL]
