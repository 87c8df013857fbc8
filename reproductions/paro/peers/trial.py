"""From known systems to rows: one per system and effective strategy."""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare import Row, RunContext
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.peers import SETTINGS, SYSTEMS, Setting, own, predicted
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.peers.experiment import Inputs


def peer_rows(params: Inputs, ctx: RunContext) -> list[Row]:
    """Return whether each system expresses each strategy, by which setting, and what that costs."""
    cluster = params.cluster(params.num_gpus)
    workload = Workload(
        num_params=params.num_params,
        trainable_share=params.trainable_share,
        accumulation=params.accumulation,
    )
    return [
        {"system": system, "strategy": strategy.letters,
         **row_of(settings_for(system, strategy.letters), workload, cluster)}
        for system in SYSTEMS
        for strategy in EFFECTIVE
    ]  # fmt: skip


def settings_for(system: str, letters: str) -> list[Setting]:
    """Return a system's settings that are a strategy, or come nearest to it; exact ones first."""
    found = [each for each in SETTINGS if (each.system, each.nearest) == (system, letters)]
    return sorted(found, key=lambda each: not each.is_exact)


def row_of(settings: Sequence[Setting], workload: Workload, cluster: Cluster) -> Row:
    """Return what the first of the settings is, and costs beside the strategy; or that none is."""
    if not settings:
        return {"expressed": "no", "num_settings": 0, "setting": "", "written": "", "differs": "",
                "evidence": "", "bytes_ratio": None, "time_ratio": None}  # fmt: skip
    best = settings[0]
    found, plain = predicted((best, own(best.nearest)), workload, cluster)
    return {
        "expressed": "yes" if best.is_exact else "nearly",
        "num_settings": len(settings),
        "setting": best.name,
        "written": best.written,
        "differs": best.differs,
        "evidence": best.evidence,
        "bytes_ratio": found.memory.total / plain.memory.total,
        "time_ratio": found.time.comm / plain.time.comm,
    }
