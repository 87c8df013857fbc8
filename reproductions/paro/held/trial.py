"""From ranks to rows: what a setting holds of a state, beside what the formula says."""

from __future__ import annotations

from itertools import pairwise

from harness.declare import Row, RunContext
from reproductions.paro.held.experiment import (
    ADAM_BYTES,
    GRAD_BYTES,
    PARAM_BYTES,
    STATES,
    WIDTHS,
    Ranks,
    State,
)
from reproductions.paro.held.ranks import count_all
from reproductions.paro.method.cluster import Cluster, unlinked
from reproductions.paro.method.peers import Setting, setting_of
from reproductions.paro.models.gloo_ranks import on_ranks

SIZES: dict[State, int] = {"grads": GRAD_BYTES, "adam": ADAM_BYTES}


def held_rows(params: Ranks, ctx: RunContext) -> list[Row]:
    """Count on all ranks; return a row per net, setting and state."""
    by_rank = on_ranks(count_all, params.num_ranks, group_size=params.group_size)
    cluster = unlinked(params.num_ranks, params.group_size)
    rows: list[Row] = []
    for same in zip(*by_rank, strict=True):
        shapes = shapes_of(WIDTHS[same[0]["net"]])
        setting = setting_of(same[0]["setting"])
        total = sum(rows * columns for rows, columns in shapes)
        for state in STATES:
            size = SIZES.get(state, PARAM_BYTES)
            found = [each[f"{state}_bytes"] for each in same]
            rows.append({
                "net": same[0]["net"],
                "setting": setting.name,
                "strategy": str(setting.strategy),
                "state": state,
                "whole_bytes": size * total,
                "formula_bytes": size * total * share(setting, state, cluster),
                "least_bytes": min(found),
                "most_bytes": max(found),
                "sum_bytes": sum(found),
                "share_held": max(found) / (size * total),
                "row_bytes": size * sum(columns for _, columns in shapes),
            })  # fmt: skip
    return rows


def shapes_of(widths: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return rows and columns of every tensor of a net; a bias has rows of one number."""
    pairs = list(pairwise(widths))
    return [shape for i, o in pairs for shape in ((o, i), (o, 1))]


def share(setting: Setting, state: State, cluster: Cluster) -> float:
    """Return which share of a state a rank holds, by the formula; parts that it holds add up."""
    strategy, keeps = setting.strategy, setting.keeps_part
    at_rest = 1.0 / cluster.parts(keeps or strategy.params)
    whole = 1.0 / cluster.parts(strategy.params) if keeps else 0.0
    match state:
        case "grads":
            return 1.0 / cluster.parts(strategy.grads)
        case "adam":
            return 1.0 / cluster.parts(strategy.states)
        case "params":
            return at_rest
        case "params_between_micro_batches":
            return at_rest + whole
        case "params_between_passes":
            between = 1.0 / cluster.parts(strategy.between) if strategy.between else 0.0
            return at_rest + whole + between
