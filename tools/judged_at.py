"""What every claim measured in one source tree, as JSON on stdout; run inside that tree.

    python judged_at.py TREE HARNESS [--code-only]

TREE holds `harness` and `reproductions` as they were; HARNESS is today's harness folder, of
which `provenance` alone is used: the digests of old code must be today's digests.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

PROFILE = "cpu"
ROW_FIELDS = ("verdict", "reason", "measured", "low", "high", "num_seeds", "seal")
SEALED = "sealed_threshold"


def main() -> None:
    """Print digests of every experiment's code and, unless told not to, of every claim."""
    tree, today, *options = sys.argv[1:]
    sys.path.insert(0, tree)
    import harness

    # Old modules come first; what they lack comes from today's tree.
    harness.__path__.append(today)
    from harness.provenance.code import code_digest
    from harness.registry import load_registry

    library = load_registry()
    found: dict[str, Any] = {
        "code": {
            e.id: code_digest([e.run, *([e.batch.run] if e.batch else [])])
            for _, e in sorted(library.experiments.items())
        }
    }
    if "--code-only" not in options:
        assert not library.broken, library.broken
        found |= {
            "keys": {name: keys_of(e) for name, e in sorted(library.experiments.items())},
            "tasks": {name: judged(task, library) for name, task in sorted(library.tasks.items())},
        }
    json.dump(found, sys.stdout)


def keys_of(experiment: Any) -> list[str]:
    """Return the keys of a profile's trials, in the grid's order."""
    from harness.trial import grid_of

    return [trial.key for trial in grid_of(experiment, PROFILE)]


def judged(task: Any, library: Any) -> dict[str, Any]:
    """Return what a task reads, and band, samples and verdict of each of its claims."""
    from harness.check import check_stored
    from harness.refresh import reference_of
    from harness.results import load_result
    from harness.workspace import find_workspace

    workspace = find_workspace()
    result = load_result(workspace, task, PROFILE)
    rows = {
        row.claim: row.to_json()
        for row in check_stored(workspace, task, PROFILE, reference_of(library, task))
    }
    table = None if result is None else result.table
    return {
        "reads": [experiment.id for experiment in task.reads],
        "claims": {
            claim.id: claim_entry(task, claim, rows[claim.id], table) for claim in task.claims
        },
    }


def claim_entry(task: Any, claim: Any, row: dict[str, Any], table: Any) -> dict[str, Any]:
    """Return one claim: its words, its band, its code, its samples and its verdict."""
    from harness.seals import threshold_json

    from harness import claims
    from harness.provenance.code import code_digest

    roots = [claim.quantity, task.view, claims._samples, claims._decide]
    entry: dict[str, Any] = {
        "statement": claim.statement,
        "where": claim.where,
        "unit": claim.unit,
        "band": {
            "form": claim.form,
            "threshold": threshold_json(claim.threshold),
            "tolerance": claim.tolerance,
            "grade": claim.grade,
            "profiles": list(claim.profiles),
            "cohort": "first",
            "deterministic": claim.deterministic,
            "seed_column": task.columns.seed or "",
        },
        "code": code_digest(roots, follow=("harness.claims", "harness.statistics")),
        **{name: row[name] for name in ROW_FIELDS},
    }
    if row[SEALED] is not None:
        entry[SEALED] = row[SEALED]
    if row["measured"] is not None or row["num_seeds"]:
        entry |= samples_of(claim, table, task.columns.seed)
    return entry


def samples_of(claim: Any, table: Any, seed: str | None) -> dict[str, Any]:
    """Return the judged numbers per seed, with the seeds in their order."""
    from harness.claims import _samples

    pooled = claim.deterministic or seed is None
    seeds = [] if pooled else sorted({int(value) for value in table[seed]})
    samples = _samples(claim, table, seed)
    assert pooled or len(seeds) == len(samples)
    return {"seeds": seeds, "samples": [[_number(v) for v in sample] for sample in samples]}


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


if __name__ == "__main__":
    main()
