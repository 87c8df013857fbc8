"""How long each paper's runs took at `cpu` on two cores, from its committed records."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.measure.machine import cpu_name
from harness.store.record import Record, read_pack
from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SOURCE

NUM_CORES = 2
Wanted = Callable[[str], bool]
FIRST = {
    "supar": ("lr_sweep", "coordinate_check", "identities", "configuration"),
    "fg2u": (
        "capabilities", "condensing", "differences", "identities", "inner_run", "live_memory",
        "sampling", "step_time",
    ),
}  # fmt: skip
"""Of SμPar the experiments of its first figures; of (FG)²U those of the estimator itself."""
SCORES = ("downstream", "downstream_given", "continuation")
"""Experiments of SμPar that train nothing: they score the nets of a sweep."""


@pytest.mark.parametrize(
    ("name", "limit", "wanted"),
    [
        ("asymvalley_cpu", 180.0, lambda name: True),
        ("fg2u_cpu", 60.0, lambda name: name in FIRST["fg2u"]),
        ("fg2u_cpu_more", 180.0, lambda name: name not in FIRST["fg2u"]),
        ("lisa_cpu", 180.0, lambda name: True),
        ("paro_cpu", 90.0, lambda name: True),
        ("supar_cpu", 60.0, lambda name: name in FIRST["supar"]),
        ("supar_cpu_sweeps", 180.0, lambda name: name not in (*FIRST["supar"], *SCORES)),
        ("supar_cpu_more", 180.0, lambda name: name not in FIRST["supar"]),
    ],
)
def test_a_paper_is_done_in_its_time(
    goal: GoalFixture, name: str, limit: float, wanted: Wanted
) -> None:
    """Record the minutes that the wanted experiments took; none is run."""
    records = _records(name.partition("_")[0], wanted)
    core_s = sum(record.provenance.wall_s for record in records)
    cpus = sorted({cpu_name(record.provenance.machine) for record in records})
    names = sorted({record.experiment.split("/")[1] for record in records})
    goal(name, limit=limit, unit="min", direction="at_most")(
        core_s / NUM_CORES / 60,
        from_records=True,
        note=f"{len(records)} committed records of {', '.join(names)}: sum of their times over"
        f" {NUM_CORES} cores; run on {' and '.join(cpus)}; start-up and idle time are not in it",
    )


def _records(paper: str, wanted: Wanted) -> list[Record]:
    packs = sorted((SOURCE / "results" / paper / "records").glob("*.cpu.jsonl.gz"))
    chosen = [pack for pack in packs if wanted(pack.name.split(".")[0])]
    if not chosen:
        pytest.skip(f"{paper} has not been run at cpu: repro run {paper} --profile cpu")
    return [record for pack in chosen for record in read_pack(pack)]
