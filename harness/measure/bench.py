"""Performance goals: what a benchmark stores, reads back, and how all of them are run.

A benchmark is a pytest file `tests/benchmarks/bench_<name>.py`; it declares its goal, measures,
and leaves `results/benchmarks/<goal>.json`. A missed goal is a result, not a failure.
"""

from __future__ import annotations

import datetime as dt
import fnmatch
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from harness.errors import DataError, EnvError, UsageError, nearest
from harness.measure.machine import machine_facts
from harness.measure.timing import quantiles
from harness.store.atomic import write_text
from harness.strict import Strict, explain
from harness.untrusted import read_bytes

Direction = Literal["at_most", "at_least"]


class Goal(Strict):
    """What a benchmark must reach."""

    limit: float
    unit: str
    """`s`, `ms`, `ratio`, ..."""
    direction: Direction

    def is_met(self, measured: float) -> bool:
        return measured <= self.limit if self.direction == "at_most" else measured >= self.limit


class Samples(Strict):
    """Summary of the samples behind a measured value, in the goal's unit."""

    count: int = Field(ge=1)
    min: float
    p20: float
    median: float
    p80: float
    max: float


class BenchmarkResult(Strict):
    """One stored benchmark: goal, what was measured, and on what."""

    schema_version: Literal[1] = 1
    name: str = Field(pattern=r"^[a-z0-9_]+$")
    goal: Goal
    measured: float = Field(allow_inf_nan=False)
    met: bool
    samples: Samples | None
    """None where the measured value is one number and not a summary."""
    note: str
    """The setting, in one line."""
    load_average: float | None
    """One-minute load average before the measurement."""
    other_cores: float | None = None
    """Mean number of cores that others kept busy during it; None where nothing tells."""
    machine: dict[str, Any]
    """Machine facts, without the load and the commit."""
    commit: str
    dirty: bool
    date: str
    """When it was stored, ISO 8601 in UTC."""

    @model_validator(mode="after")
    def _met_follows_from_measured(self) -> Self:
        if self.met != self.goal.is_met(self.measured):
            raise ValueError(f"met={self.met} contradicts measured={self.measured} and the goal")
        return self


def make_result(
    name: str,
    goal: Goal,
    measured: float,
    *,
    samples: Sequence[float] = (),
    note: str = "",
    load_average: float | None,
    other_cores: float | None = None,
) -> BenchmarkResult:
    """Return a result with the facts of this machine and checkout, dated now."""
    facts = machine_facts().to_json()
    commit, dirty = facts.pop("commit"), facts.pop("dirty")
    del facts["load_average"]
    return BenchmarkResult(
        name=name,
        goal=goal,
        measured=float(measured),
        met=goal.is_met(measured),
        samples=summarise(samples),
        note=note,
        load_average=load_average,
        other_cores=other_cores,
        machine=facts,
        commit=commit,
        dirty=dirty,
        date=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def summarise(samples: Sequence[float]) -> Samples | None:
    """Return the summary; None for no samples."""
    if not samples:
        return None
    # Two copies of a single sample have its quantiles.
    p20, median, p80 = quantiles(samples if len(samples) > 1 else [*samples, *samples])
    return Samples(
        count=len(samples),
        min=float(min(samples)),
        p20=float(p20),
        median=float(median),
        p80=float(p80),
        max=float(max(samples)),
    )


def benchmarks_folder(root: Path) -> Path:
    """Return where a checkout keeps its results."""
    return root / "results" / "benchmarks"


def store_result(root: Path, result: BenchmarkResult) -> Path:
    """Write a result in its place and return the file."""
    path = benchmarks_folder(root) / f"{result.name}.json"
    write_text(path, json.dumps(result.model_dump(mode="json"), indent=1, sort_keys=True) + "\n")
    return path


def load_benchmarks(root: Path) -> list[BenchmarkResult]:
    """Return all stored results, by name; none where there is no folder.

    Raises DataError, naming the file, for one that is torn, edited or foreign.
    """
    return [_load(path) for path in sorted(benchmarks_folder(root).glob("*.json"))]


def _load(path: Path) -> BenchmarkResult:
    try:
        result = BenchmarkResult.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise DataError(
            f"{path} is no benchmark result ({explain(error)}): repro bench makes it again"
        ) from error
    if result.name != path.stem:
        raise DataError(f"{path} holds the benchmark {result.name!r}: rename it or make it again")
    return result


def benchmark_files(source: Path, selectors: Sequence[str]) -> list[Path]:
    """Return the benchmark files of a source tree by name or pattern; all for none.

    Raises EnvError where there is no source tree, UsageError for a name that matches nothing.
    """
    folder = source / "tests" / "benchmarks"
    files = {path.stem.removeprefix("bench_"): path for path in folder.glob("bench_*.py")}
    if not files:
        raise EnvError(f"{folder} holds no benchmarks: run repro bench in a source checkout")
    chosen: set[str] = set()
    for selector in selectors or ["*"]:
        matches = fnmatch.filter(files, selector)
        if not matches:
            raise UsageError(
                f"no benchmark matches {selector!r}{nearest(selector, files)}:"
                f" use some of {', '.join(sorted(files))}"
            )
        chosen.update(matches)
    return [files[name] for name in sorted(chosen)]


def check_writable(*folders: Path) -> None:
    """Raise EnvError unless files can be made in some folders, which may not be there yet."""
    for folder in folders:
        there = next(path for path in (folder, *folder.parents) if path.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise EnvError(
                f"{folder} cannot be written to: repro bench keeps its measurements there, and"
                " repro bench --stored prints those that are"
            )


def run_benchmarks(source: Path, files: Sequence[Path], *, compare: bool) -> int:
    """Run benchmark files in a pytest of their own and return its exit code.

    Every run is kept in `.benchmarks/` (pytest-benchmark's storage, not committed); with
    `compare` the table shows the last kept run beside this one.
    """
    # The project's own options skip benchmarks and collect doctests: neither is wanted here.
    options = ["-o", "addopts=--strict-markers", "-o", "python_files=bench_*.py", "-q", "-rs"]
    storage = [f"--benchmark-storage=file://{source / '.benchmarks'}", "--benchmark-autosave"]
    shown = ["--benchmark-columns=min,median,iqr,rounds"]
    if compare:
        shown.append("--benchmark-compare")
    # Files first: the last option would take one of them for the run to compare with.
    command = [sys.executable, "-m", "pytest", *map(str, files), *options, *storage, *shown]
    # Read once, before torch is imported: without it two busy processes slow each other.
    settings = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    environment = {**os.environ, **settings}
    # Its tables are for the person; stdout is for our rows.
    return subprocess.run(command, cwd=source, env=environment, stdout=sys.stderr).returncode


def goal_rows(
    before: Sequence[BenchmarkResult], after: Sequence[BenchmarkResult]
) -> list[dict[str, Any]]:
    """Return one row per goal in `after`, beside what was stored before."""
    earlier = {result.name: result for result in before}
    rows = []
    for result in after:
        old = earlier.get(result.name)
        rows.append(
            {
                "name": result.name,
                "measured": result.measured,
                "before": old.measured if old else None,
                "direction": result.goal.direction,
                "limit": result.goal.limit,
                "unit": result.goal.unit,
                "met": result.met,
                "load_average": result.load_average,
                "other_cores": result.other_cores,
                "date": result.date,
            }
        )
    return rows
