"""How long a paper's runs took at `cpu`, from its committed records."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.measure.goal_fixture import GoalFixture
from harness.measure.machine import cpu_name
from harness.store.record import Record, read_pack
from tests.benchmarks.sweeps import SOURCE

NUM_CORES = 2


def record_minutes(
    goal: GoalFixture, name: str, *, paper: str, limit: float, wanted: Callable[[str], bool]
) -> None:
    """Record the minutes that the wanted experiments of a paper took on two cores; none is run."""
    records = _records(paper, wanted)
    core_s = sum(record.provenance.wall_s for record in records)
    cpus = sorted({cpu_name(record.provenance.machine) for record in records})
    names = sorted({record.experiment.split("/")[1] for record in records})
    goal(name, limit=limit, unit="min", direction="at_most")(
        core_s / NUM_CORES / 60,
        from_records=True,
        note=f"{len(records)} committed records of {', '.join(names)}: sum of their times over"
        f" {NUM_CORES} cores; run on {' and '.join(cpus)}; start-up and idle time are not in it",
    )


def _records(paper: str, wanted: Callable[[str], bool]) -> list[Record]:
    packs = sorted((SOURCE / "results" / paper / "records").glob("*.cpu.jsonl.gz"))
    chosen = [pack for pack in packs if wanted(pack.name.split(".")[0])]
    if not chosen:
        pytest.skip(f"{paper} has not been run at cpu: repro run {paper} --profile cpu")
    return [record for pack in chosen for record in read_pack(pack)]
