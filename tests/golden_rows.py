"""Golden rows: what one smoke trial of each experiment gave when it was last looked at."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from harness.records import Record, RecordStore
from harness.registry import Library
from harness.task import Experiment
from harness.trial import Trial, grid_of

FOLDER = Path(__file__).parent / "golden"
RELATIVE = 1e-4
"""Another processor adds in another order; a changed method changes more."""
ABSOLUTE = 1e-9
"""For values that are zero but for rounding."""


def golden_path(experiment: Experiment) -> Path:
    paper, name = experiment.id.split("/")
    return FOLDER / paper / f"{name}.json"


def golden_trial(experiment: Experiment) -> Trial:
    """Return the trial whose rows are kept: the last of the smoke grid, the paper's own method."""
    return grid_of(experiment, "smoke")[-1]


def golden_body(experiment: Experiment, store: RecordStore, library: Library) -> dict[str, Any]:
    """Return what belongs into the golden file, from a smoke run's record."""
    trial = golden_trial(experiment)
    record = store.read(trial)
    assert isinstance(record, Record), f"{trial.name} has no record"
    measured = {
        column.name
        for task in library.tasks_of(experiment)
        for column in task.columns.columns
        if column.role == "measurement"
    }
    rows = [{k: v for k, v in row.items() if k not in measured} for row in record.rows]
    return {
        "experiment": experiment.id,
        "version": experiment.version,
        "params": dict(trial.params),
        "status": record.status,
        "rows": rows,
    }


def load_golden(experiment: Experiment) -> dict[str, Any]:
    return dict(json.loads(golden_path(experiment).read_text(encoding="utf-8")))


def golden_text(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=1, sort_keys=True) + "\n"


def differences(golden: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return what differs, with both values; empty where all is within the tolerance."""
    found = [
        f"{name}: golden {golden[name]!r}, now {now[name]!r}"
        for name in ("experiment", "version", "params", "status")
        if golden[name] != now[name]
    ]
    if len(golden["rows"]) != len(now["rows"]):
        return [*found, f"rows: golden {len(golden['rows'])}, now {len(now['rows'])}"]
    for index, (old, new) in enumerate(zip(golden["rows"], now["rows"], strict=True)):
        for name in sorted(old.keys() | new.keys()):
            left, right = old.get(name, "absent"), new.get(name, "absent")
            if not close(left, right):
                found.append(f"row {index} {name}: golden {left!r}, now {right!r}")
    return found


def close(left: Any, right: Any) -> bool:
    """Compare two cells: floats within the tolerance, everything else exactly."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(left) is type(right) and bool(left == right)
