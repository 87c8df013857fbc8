"""From what ranks say to rows: times, rates and bytes, beside what the formulas say."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.declare import Row, RunContext
from harness.measure.contention import OthersWatch
from reproductions.paro.links.experiment import (
    ALGORITHMS,
    Algorithm,
    Bed,
    Gathers,
    Messages,
    cases_of,
)
from reproductions.paro.links.ranks import GATHER, PROBE_MESSAGES, time_gathers, time_messages
from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.rings import WORLD
from reproductions.paro.method.step_time import World
from reproductions.paro.method.testbed.launch import Ran, run_ranks
from reproductions.paro.method.testbed.network import Kind
from reproductions.paro.method.traffic import traffic_of

DEADLINE_S = 600.0
MODELS: dict[Algorithm, tuple[World, str]] = {
    "flat": ("flat", "flat"), "two-layer": ("hier", "row_pipeline"), "gloo": ("flat", ""),
}  # fmt: skip
"""What an algorithm's bytes are counted as, and which closed form has its time; gloo's has none."""


def message_rows(messages: Messages, ctx: RunContext) -> list[Row]:
    """Time messages of every size; return a row per case."""
    cases, cluster = cases_of(messages), messages.cluster()
    given = {"cases": [asdict(case) for case in cases], "num_samples": messages.num_samples}
    ran, watched = _run(time_messages, given, messages)
    rows: list[Row] = []
    for number, case in enumerate(cases):
        samples = [own for rank in ran.results if all(own := rank[number])]
        times = _spread_ms(samples, case.num_messages)
        asked = cluster.intra_gbit_per_s
        if case.scope == "between":
            senders = cluster.sharing if case.rings == "all" else 1
            asked = cluster.inter_gbit_per_s / senders
        # A token bucket slows the engine's messages between groups, and no others.
        slowed = ran.kind == "namespaces" or (case.scope, case.via) == ("between", "ring")
        rows.append({
            **{name: value for name, value in asdict(case).items() if name != "num_messages"},
            "wrong_bytes": sum(one["wrong_bytes"] for own in samples for one in own),
            "asked_gbit_per_s": asked,
            **(times if slowed else dict.fromkeys(times)),
            "gbit_per_s": 8e-6 * case.message_bytes / times["median_ms"] if slowed else None,
            **watched,
        })  # fmt: skip
    return rows


def gather_rows(gathers: Gathers, ctx: RunContext) -> list[Row]:
    """Time all-gathers by every algorithm; return a row for each, of all blocks together."""
    ran, watched = _run_gathers(gathers)
    whole = [_joined(blocks) for blocks in ran.results]
    return [{**row, **watched} for row in _rows_of(gathers, whole, ran.kind)]


def block_rows(gathers: Gathers, ctx: RunContext) -> list[Row]:
    """Time them likewise; return their rows for the first block, for the first two, and so on."""
    ran, watched = _run_gathers(gathers)
    rows: list[Row] = []
    for count in range(1, gathers.num_blocks + 1):
        first = [_joined(blocks[:count]) for blocks in ran.results]
        found = _rows_of(gathers, first, ran.kind)
        rows += [{"first_blocks": count, **row, **watched} for row in found]
    return rows


def _run_gathers(gathers: Gathers) -> tuple[Ran, Row]:
    given = {
        "block_bytes": gathers.block_bytes,
        "num_samples": gathers.num_samples,
        "num_blocks": gathers.num_blocks,
        "seed": gathers.seed,
    }
    return _run(time_gathers, given, gathers)


def _joined(blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the samples of several blocks as those of one."""
    found: dict[str, Any] = {
        algorithm: [sample for block in blocks for sample in block[algorithm]]
        for algorithm in ALGORITHMS
    }
    both = zip(*(block["probes"] for block in blocks), strict=True)
    return found | {"probes": [[sample for own in same for sample in own] for same in both]}


def _rows_of(gathers: Gathers, of_ranks: Sequence[dict[str, Any]], kind: Kind) -> list[Row]:
    """Return a row per algorithm. of_ranks: samples by algorithm, and of known bytes."""
    asked = gathers.cluster()
    total = float(gathers.block_bytes * asked.num_gpus)
    measured = _measured(asked, of_ranks, gathers.block_bytes)
    rows: list[Row] = []
    for algorithm in ALGORITHMS:
        samples = [rank[algorithm] for rank in of_ranks]
        world, form = MODELS[algorithm]
        times = _spread_ms(samples, 1)
        slowed = kind == "namespaces" or algorithm != "gloo"
        formula = traffic_of(GATHER, asked, total, world).between * asked.num_groups
        rows.append({
            "algorithm": algorithm,
            "gathered_bytes": int(total),
            "formula_bytes": formula,
            "booked_bytes": sum(own[0]["booked_bytes"] for own in samples),
            "wrong_bytes": sum(one["wrong_bytes"] for own in samples for one in own),
            "counted_bytes": _counted(samples, asked) if kind == "namespaces" else None,
            **(times if slowed else dict.fromkeys(times)),
            "predicted_ms": 1e3 * WORLD[form](measured, total) if form else None,  # type: ignore[index]
            "between_gbit_per_s": measured.inter_gbit_per_s,
            "within_gbit_per_s": measured.intra_gbit_per_s,
        })  # fmt: skip
    return rows


def _run(function: Any, given: dict[str, Any], bed: Bed) -> tuple[Ran, Row]:
    """Return what ranks say, and on which testbed they ran, beside what else."""
    watch = OthersWatch()
    ran = run_ranks(function, given, bed.cluster(), deadline_s=DEADLINE_S)
    return ran, {"testbed": ran.kind, "others_cores": watch.cores()}


def _spread_ms(by_rank: Sequence[Sequence[dict[str, Any]]], parts: int) -> dict[str, float]:
    """Return the median and fifths of samples, in ms per part of them."""
    times = [
        1e3 * (max(one["end"] for one in same) - min(one["start"] for one in same)) / parts
        for same in zip(*by_rank, strict=True)
    ]
    if len(times) == 1:
        times *= 2
    fifths = statistics.quantiles(times, n=5, method="inclusive")
    return {"median_ms": statistics.median(times), "p20_ms": fifths[0], "p80_ms": fifths[-1]}


def _measured(asked: Cluster, of_ranks: Sequence[dict[str, Any]], num_bytes: int) -> Cluster:
    """Return the testbed with the bandwidths that messages of a block's size had on it."""
    rates = []
    for number in range(2):
        samples = [own for rank in of_ranks if all(own := rank["probes"][number])]
        rates.append(8e-6 * num_bytes / _spread_ms(samples, PROBE_MESSAGES)["median_ms"])
    within, between = rates
    return replace(asked, intra_gbit_per_s=within, inter_gbit_per_s=between)


def _counted(samples: Sequence[Sequence[dict[str, Any]]], cluster: Cluster) -> float:
    """Return what interfaces between groups sent for one gather, all together."""
    nodes = samples[:: cluster.sharing]
    return float(sum(statistics.mean(one["counted_bytes"] for one in own) for own in nodes))
