"""The whole paper supar at `cpu` must take less than an hour on two cores."""

from __future__ import annotations

import pytest

from harness.records import Record, read_pack
from tests.benchmarks.goals import GoalFixture
from tests.benchmarks.sweeps import SOURCE

NUM_CORES = 2


def test_supar_at_cpu_is_done_in_an_hour(goal: GoalFixture) -> None:
    """Add up the times that the committed records tell; nothing is run."""
    packs = sorted((SOURCE / "results" / "supar" / "records").glob("*.cpu.jsonl.gz"))
    if not packs:
        pytest.skip("supar has not been run at cpu: repro run supar --profile cpu")
    records: list[Record] = [record for pack in packs for record in read_pack(pack)]
    core_s = sum(record.provenance.wall_s for record in records)
    cpus = sorted({str(record.provenance.machine.get("cpu")) for record in records})
    goal("supar_cpu", limit=60.0, unit="min", direction="at_most")(
        core_s / NUM_CORES / 60,
        note=f"{len(records)} committed records, sum of their times over {NUM_CORES} cores;"
        f" run on {', '.join(cpus)}; start-up and idle time are not in it",
    )
