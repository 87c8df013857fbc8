"""Runs benchmarks, one pytest each, and gathers what they found.

A benchmark is a pytest file `tests/benchmarks/bench_<name>.py` whose tests use the fixture `goal`.
"""

from __future__ import annotations

import fnmatch
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.errors import DataError, EnvError, UsageError, nearest
from harness.measure.goals import Baseline, Measured, read_document

CROWDED_CORES = 0.2
"""More than this taken by others makes a time too long to judge a goal by, or to store."""


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


def is_disturbed(item: Measured) -> bool:
    """Say whether others took too much of the machine while something was timed."""
    timed = not (item.exact or item.from_records)
    return timed and (item.other_cores or 0.0) > CROWDED_CORES


def seconds_of(file: Path, baselines: Sequence[Baseline]) -> float | None:
    """Return how long a benchmark file took when it was stored, on the slowest kind of machine.

    None where it never was.
    """
    taken = [
        sum(
            entry["extra_info"]["wall_s"]
            for entry in baseline.document["benchmarks"]
            if Path(entry["fullname"].split("::")[0]).name == file.name
        )
        for baseline in baselines
    ]
    return max(taken, default=0.0) or None


def run_benchmark(source: Path, file: Path) -> tuple[Baseline | None, int]:
    """Run one benchmark file in a pytest of its own.

    Returns what it found, None where all of it was skipped, and pytest's exit code.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        code = _pytest(source, [file], f"--benchmark-json={found}")
        if not found.exists() or not found.stat().st_size:
            return None, code
        try:
            return read_document(found), code
        except DataError as error:
            raise DataError(f"{file} leaves a benchmark without a goal: {error}") from error


def try_benchmarks(source: Path, files: Sequence[Path]) -> int:
    """Run benchmarks at the smallest sizes, in one pytest, and return its exit code.

    Nothing is measured: it shows that they work.
    """
    return _pytest(source, files, "--benchmark-disable")


def _pytest(source: Path, files: Sequence[Path], option: str) -> int:
    """Run benchmark files in a pytest of their own and return its exit code."""
    # The project's own options skip benchmarks and collect doctests: neither is wanted here.
    options = ["-o", "addopts=--strict-markers", "-o", "python_files=bench_*.py", "-q", "-rs"]
    plugin = ["-p", "harness.measure.goal_fixture", "-p", "no:cacheprovider"]
    # Read once, before torch is imported: without it two busy processes slow each other.
    settings = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    environment = {**os.environ, **settings}
    # Where nothing may be kept, each start would compile all modules, which is no user's start.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", *map(str, files), *options, *plugin]
    # Its lines are for the person; stdout is for our rows.
    done = subprocess.run(
        [*command, "--benchmark-quiet", option], cwd=source, env=environment, stdout=sys.stderr
    )
    return done.returncode
