"""Golden rows: what two smoke trials of each experiment gave when they were last looked at."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from harness.record import Record
from harness.records import RecordStore
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


def golden_trials(experiment: Experiment) -> list[Trial]:
    """Return the trials whose rows are kept: the smoke grid's first, a baseline, and its last."""
    grid = grid_of(experiment, "smoke")
    return [grid[0], grid[-1]] if len(grid) > 1 else grid


def golden_body(experiment: Experiment, store: RecordStore, library: Library) -> dict[str, Any]:
    """Return what belongs into the golden file, from a smoke run's records."""
    measured = {
        column.name
        for task in library.tasks_of(experiment)
        for column in task.columns.columns
        if column.role == "measurement"
    }
    trials = []
    for trial in golden_trials(experiment):
        record = store.read(trial)
        assert isinstance(record, Record), f"{trial.name} has no record"
        rows = [{k: v for k, v in row.items() if k not in measured} for row in record.rows]
        trials.append({"params": dict(trial.params), "status": record.status, "rows": rows})
    return {"experiment": experiment.id, "version": experiment.version, "trials": trials}


def load_golden(experiment: Experiment) -> dict[str, Any]:
    return dict(json.loads(golden_path(experiment).read_text(encoding="utf-8")))


def golden_text(body: dict[str, Any]) -> str:
    return json.dumps(body, indent=1, sort_keys=True) + "\n"


def differences(golden: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return what differs, with both values; empty where all is within the tolerance."""
    found = _unequal(golden, now, ("experiment", "version"), "")
    if len(golden["trials"]) != len(now["trials"]):
        return [*found, f"trials: golden {len(golden['trials'])}, now {len(now['trials'])}"]
    for number, (old, new) in enumerate(zip(golden["trials"], now["trials"], strict=True)):
        found += _unequal(old, new, ("params", "status"), f"trial {number} ")
        found += _row_differences(old["rows"], new["rows"], f"trial {number} ")
    return found


def _unequal(
    old: dict[str, Any], new: dict[str, Any], names: tuple[str, ...], where: str
) -> list[str]:
    return [
        f"{where}{name}: golden {old[name]!r}, now {new[name]!r}"
        for name in names
        if old[name] != new[name]
    ]


def _row_differences(
    golden: list[dict[str, Any]], now: list[dict[str, Any]], where: str
) -> list[str]:
    if len(golden) != len(now):
        return [f"{where}rows: golden {len(golden)}, now {len(now)}"]
    found = []
    for index, (old, new) in enumerate(zip(golden, now, strict=True)):
        for name in sorted(old.keys() | new.keys()):
            left, right = old.get(name, "absent"), new.get(name, "absent")
            if not close(left, right):
                found.append(f"{where}row {index} {name}: golden {left!r}, now {right!r}")
    return found


def close(left: Any, right: Any) -> bool:
    """Compare two cells: floats within the tolerance, everything else exactly."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(left) is type(right) and bool(left == right)
