"""Sums over committed records say on what they rest."""

from __future__ import annotations

from typing import Any

from harness.store.record import read_pack
from tests.benchmarks.cpu_time import record_minutes
from tests.checkout import ROOT


def test_processors_are_named_with_their_instruction_sets() -> None:
    """Where records hold them: of one model machines differ in what they compute with."""
    told: dict[str, Any] = {}

    def goal(name: str, **settings: Any) -> Any:
        return lambda measured, **facts: told.update(facts)

    pack = ROOT / "results" / "fg2u" / "records" / "inner_run.cpu.jsonl.gz"
    record_minutes(goal, "minutes", paper="fg2u", limit=1.0, wanted=lambda n: n == "inner_run")  # type: ignore[arg-type]
    sets = {record.provenance.machine["isa"] for record in read_pack(pack)}
    assert sets and all(f", {isa}" in told["note"].split("run on ")[1] for isa in sets)
