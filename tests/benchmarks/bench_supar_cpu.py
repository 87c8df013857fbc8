"""Supar at `cpu` on two cores: its first figures within an hour, the other sweeps within three.

All the rest, with Table 2's scores and their substitute, is held to the same three hours beside.
"""

from __future__ import annotations

import pytest

from harness.records import Record, read_pack
from tests.benchmarks.goals import GoalFixture
from tests.benchmarks.sweeps import SOURCE

NUM_CORES = 2
FIRST = ("lr_sweep", "coordinate_check", "identities", "configuration")
"""Experiments of Figures 1, 5, 6, 8 and of Tables 1, 3, 4."""
SCORES = ("downstream", "downstream_given", "continuation")
"""Experiments that train nothing: they score the nets of a sweep."""


def _records(part: str) -> list[Record]:
    """Return the committed records of a part; nothing is run."""
    packs = {
        pack.name.split(".")[0]: pack
        for pack in sorted((SOURCE / "results" / "supar" / "records").glob("*.cpu.jsonl.gz"))
    }
    wanted = {
        "first": lambda name: name in FIRST,
        "sweeps": lambda name: name not in (*FIRST, *SCORES),
        "more": lambda name: name not in FIRST,
    }[part]
    chosen = [pack for name, pack in packs.items() if wanted(name)]
    if not chosen:
        pytest.skip("supar has not been run at cpu: repro run supar --profile cpu")
    return [record for pack in chosen for record in read_pack(pack)]


@pytest.mark.parametrize(
    ("name", "limit", "part"),
    [
        ("supar_cpu", 60.0, "first"),
        ("supar_cpu_sweeps", 180.0, "sweeps"),
        ("supar_cpu_more", 180.0, "more"),
    ],
)
def test_supar_at_cpu_is_done_in_its_time(
    goal: GoalFixture, name: str, limit: float, part: str
) -> None:
    records = _records(part)
    core_s = sum(record.provenance.wall_s for record in records)
    cpus = sorted({str(record.provenance.machine.get("cpu")) for record in records})
    names = sorted({record.experiment.split("/")[1] for record in records})
    goal(name, limit=limit, unit="min", direction="at_most")(
        core_s / NUM_CORES / 60,
        note=f"{len(records)} committed records of {', '.join(names)}: sum of their times over"
        f" {NUM_CORES} cores; run on {', '.join(cpus)}; start-up and idle time are not in it",
    )
