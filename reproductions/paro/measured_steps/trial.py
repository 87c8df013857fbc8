"""From a testbed to rows: what a setting takes, beside what the formulas say of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from harness.declare import Row, RunContext
from reproductions.paro.measured_steps.experiment import BASELINES, Setting, Steps
from reproductions.paro.measured_steps.on_ranks import measure
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.memory import memory_of
from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.step_time import step_time
from reproductions.paro.method.strategy import strategy_of
from reproductions.paro.method.testbed.launch import run_ranks
from reproductions.paro.method.traffic import step_traffic

FLOAT_BYTES, ADAM_BYTES = 4, 8
DEADLINE_S = 900.0
GIGA = 1e9
BITS = 8


def step_rows(steps: Steps, ctx: RunContext) -> list[Row]:
    """Let ranks take steps; return a row per setting."""
    return [row for _, row in rows_by_turns(steps, (steps.num_timed,))]


def turn_rows(steps: Steps, ctx: RunContext) -> list[Row]:
    """Let ranks take steps; return rows of the first turn, of the first two together, and so on."""
    counts = range(1, steps.num_timed + 1)
    return [{"first_turns": count, **row} for count, row in rows_by_turns(steps, counts)]


def rows_by_turns(steps: Steps, counts: Iterable[int]) -> list[tuple[int, Row]]:
    """Return each number of first turns with each setting's row of them."""
    asked = Cluster(
        num_gpus=steps.num_ranks, group_size=steps.group_size, nic=steps.nic,
        inter_gbit_per_s=steps.inter_mbit_per_s / 1e3,
        intra_gbit_per_s=steps.intra_mbit_per_s / 1e3,
    )  # fmt: skip
    ran = run_ranks(measure, steps.to_json(), asked, deadline_s=DEADLINE_S)
    found = measured_cluster(asked, [each["rates"] for each in ran.results])
    links = {
        "testbed": ran.kind,
        "inter_gbit_per_s": found.inter_gbit_per_s,
        "intra_gbit_per_s": found.intra_gbit_per_s,
    }
    by_setting = [*zip(*(each["rows"] for each in ran.results), strict=True)]
    paced = ran.kind == "token bucket"
    return [
        (count, {**links, **step_row(steps, found, cut(each, count), paced=paced)})
        for count in counts
        for each in by_setting
    ]


def cut(of_ranks: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return what ranks measured of a setting in its first turns."""
    return [{**each, "seconds": each["seconds"][:count]} for each in of_ranks]


def measured_cluster(asked: Cluster, rates: Sequence[dict[str, float]]) -> Cluster:
    """Return the cluster with the links' rates as its ranks found them, all sending at once.

    rates: per rank, in bytes per second. A shared link's is what its ranks send together.
    """
    inter = median(each["inter"] for each in rates) * asked.sharing
    intra = median(each["intra"] for each in rates)
    return replace(
        asked, inter_gbit_per_s=inter * BITS / GIGA, intra_gbit_per_s=intra * BITS / GIGA
    )


def step_row(
    steps: Steps, cluster: Cluster, of_ranks: Sequence[dict[str, Any]], *, paced: bool
) -> Row:
    """Return a setting's row. of_ranks: what each measured of it.

    paced: whether the engine's own messages alone are slowed; PyTorch's steps then have no time.
    """
    first = of_ranks[0]
    setting = Setting(first["name"], first["accumulation"])
    total, trained = first["num_params"], first["num_trained"]
    strategy = strategy_of(setting.letters)
    workload = Workload(
        num_params=total, trainable_share=trained / total, accumulation=setting.accumulation,
        param_bytes=FLOAT_BYTES, grad_bytes=FLOAT_BYTES, state_bytes=ADAM_BYTES,
    )  # fmt: skip
    seconds = median(slowest(each["seconds"] for each in of_ranks))
    slowed = not paced or setting.name not in BASELINES
    samples = steps.num_ranks * steps.batch_size * setting.accumulation
    return {
        "question": first["question"],
        "setting": setting.name,
        "strategy": setting.letters,
        "accumulation": setting.accumulation,
        "step_s": seconds if slowed else None,
        "samples_per_s": samples / seconds if slowed else None,
        "compute_s": median(slowest(each["compute_s"] for each in of_ranks)),
        "predicted_s": step_time(strategy, workload, cluster).comm,
        "held_bytes": max(each["held_bytes"] for each in of_ranks),
        "predicted_held_bytes": memory_of(strategy, workload, cluster).total,
        "between_bytes": out_of_group([each["between_bytes"] for each in of_ranks], cluster, 1),
        "interface_bytes": out_of_group(
            [each["interface_bytes"] for each in of_ranks], cluster, cluster.sharing
        ),
        "predicted_between_bytes": step_traffic(schedule(strategy), workload, cluster).between,
    }


def slowest(by_rank: Iterable[Sequence[float]]) -> list[float]:
    """Return time after time the longest of any rank."""
    return [max(times) for times in zip(*by_rank, strict=True)]


def out_of_group(by_rank: Sequence[int | None], cluster: Cluster, sharing: int) -> int | None:
    """Return the most bytes that ranks of a group sent out of it; None where nobody counted.

    sharing: how many neighbours counted the same bytes, of one interface.
    """
    counts = [count for count in by_rank if count is not None]
    if len(counts) < len(by_rank):
        return None
    m = cluster.group_size
    groups = [counts[first : first + m] for first in range(0, len(counts), m)]
    nodes = [[max(g[i : i + sharing]) for i in range(0, m, sharing)] for g in groups]
    return max(map(sum, nodes))
