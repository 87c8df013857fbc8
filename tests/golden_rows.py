"""Golden rows: what the golden trials of each experiment gave when they were last looked at."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"
RELATIVE = 1e-4
"""Another processor adds in another order; a changed method changes more."""
ABSOLUTE = 1e-9
"""For values that are zero but for rounding."""

Body = dict[str, Any]
"""A golden file: experiment, version, and of each trial parameters, status and rows."""


def golden_path(experiment: str) -> Path:
    """Return where an experiment's golden rows lie, by its id."""
    return FOLDER / f"{experiment}.json"


def load_golden(experiment: str) -> Body:
    return dict(json.loads(golden_path(experiment).read_text(encoding="utf-8")))


def golden_text(body: Body) -> str:
    return json.dumps(body, indent=1, sort_keys=True) + "\n"


def differences(golden: Body, now: Body) -> list[str]:
    """Return what differs, with both values; empty where all is within the tolerance."""
    return [
        f"{where}: golden {old!r}, now {new!r}"
        for where, old, new in cells(golden, now)
        if distance(old, new) > RELATIVE
    ]


def cells(golden: Body, now: Body) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is compared: where it stands, and what is there in the one and in the other."""
    for name in ("experiment", "version"):
        yield name, golden[name], now[name]
    if len(golden["trials"]) != len(now["trials"]):
        yield "trials", len(golden["trials"]), len(now["trials"])
        return
    for number, (old, new) in enumerate(zip(golden["trials"], now["trials"], strict=True)):
        for name in ("params", "status"):
            yield f"trial {number} {name}", old[name], new[name]
        yield from _row_cells(old["rows"], new["rows"], f"trial {number}")


def _row_cells(
    golden: list[dict[str, Any]], now: list[dict[str, Any]], where: str
) -> Iterator[tuple[str, Any, Any]]:
    if len(golden) != len(now):
        yield f"{where} rows", len(golden), len(now)
        return
    for index, (old, new) in enumerate(zip(golden, now, strict=True)):
        for name in sorted(old.keys() | new.keys()):
            yield f"{where} row {index} {name}", old.get(name, "absent"), new.get(name, "absent")


def distance(left: Any, right: Any) -> float:
    """Return how far two cells are apart: of floats relative, infinite where others differ.

    What is smaller than ABSOLUTE over RELATIVE is measured against that.

    >>> distance(2.0, 1.0), distance(0.0, 1e-9), distance(1, 1.0)
    (0.5, 0.0001, inf)
    """
    if isinstance(left, float) and isinstance(right, float):
        return abs(left - right) / max(abs(left), abs(right), ABSOLUTE / RELATIVE)
    return 0.0 if type(left) is type(right) and left == right else math.inf
