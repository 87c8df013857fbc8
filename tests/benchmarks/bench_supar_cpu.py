"""Supar at `cpu` on two cores: its first figures within an hour, the rest within three."""

from __future__ import annotations

import pytest

from harness.records import Record, read_pack
from tests.benchmarks.goals import GoalFixture
from tests.benchmarks.sweeps import SOURCE

NUM_CORES = 2
FIRST = ("lr_sweep", "coordinate_check", "identities", "configuration")
"""Experiments of Figures 1, 5, 6, 8 and of Tables 1, 3, 4."""


def _times(*, first: bool) -> list[Record]:
    """Return the committed records of either part; nothing is run."""
    packs = sorted((SOURCE / "results" / "supar" / "records").glob("*.cpu.jsonl.gz"))
    chosen = [pack for pack in packs if (pack.name.split(".")[0] in FIRST) is first]
    if not chosen:
        pytest.skip("supar has not been run at cpu: repro run supar --profile cpu")
    return [record for pack in chosen for record in read_pack(pack)]


@pytest.mark.parametrize(
    ("name", "limit", "first"), [("supar_cpu", 60.0, True), ("supar_cpu_more", 180.0, False)]
)
def test_supar_at_cpu_is_done_in_its_time(
    goal: GoalFixture, name: str, limit: float, first: bool
) -> None:
    records = _times(first=first)
    core_s = sum(record.provenance.wall_s for record in records)
    cpus = sorted({str(record.provenance.machine.get("cpu")) for record in records})
    names = sorted({record.experiment.split("/")[1] for record in records})
    goal(name, limit=limit, unit="min", direction="at_most")(
        core_s / NUM_CORES / 60,
        note=f"{len(records)} committed records of {', '.join(names)}: sum of their times over"
        f" {NUM_CORES} cores; run on {', '.join(cpus)}; start-up and idle time are not in it",
    )
