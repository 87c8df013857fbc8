"""The verb that measures performance goals: pytest files whose tests use the fixture `goal`."""

from __future__ import annotations

import datetime as dt
import fnmatch
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import JsonOption, print_rows, say
from harness.errors import EnvError, RunError, UsageError, nearest

if TYPE_CHECKING:
    from harness.measure.goals import Measured

SOURCE = Path(__file__).parents[2]
"""The checkout whose benchmarks are run."""

Benchmarks = Annotated[
    list[str] | None,
    typer.Argument(help="Names or patterns of tests/benchmarks/bench_<name>.py; all for none."),
]
SaveOption = Annotated[
    bool,
    typer.Option("--save", help="Store as this kind of machine's baseline, if cores are free."),
]
TryOption = Annotated[
    bool, typer.Option("--try", help="Run each once, as small as it can be: nothing is kept.")
]
StoredOption = Annotated[bool, typer.Option("--stored", help="Run nothing; print the baselines.")]


def bench(
    select: Benchmarks = None,
    save: SaveOption = False,
    tried: TryOption = False,
    stored: StoredOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the performance goals; a missed goal does not fail.

    Example:  repro bench cli_startup masked_step
    """
    from harness.measure.goals import load_baselines
    from harness.store.workspace import find_workspace

    if save + tried + stored > 1:
        raise UsageError("--save, --try and --stored exclude each other: leave one of them")
    root = find_workspace().root
    baselines = load_baselines(root)
    if stored:
        rows = [
            {"machine": each.kind, **_row(item)} for each in baselines for item in each.measured()
        ]
        return _print(rows, as_json=as_json)
    files = benchmark_files(SOURCE, select or [])
    if tried:
        say(f"{len(files)} benchmarks, each once: nothing is measured")
        if run_pytest(SOURCE, files, "--benchmark-disable"):
            raise RunError("a benchmark did not run to its end: see above")
        return None
    taken = [max((e.seconds_of(file.name) for e in baselines), default=0) for file in files]
    unknown = f"; {taken.count(0)} of them never stored" if 0 in taken else ""
    say(f"{len(files)} benchmarks, about {max(sum(taken) / 60, 0.1):.1f} min{unknown}")
    _measure(root, files, save=save, as_json=as_json)


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


def run_pytest(source: Path, files: Sequence[Path], *options: str) -> int:
    """Run benchmark files of a source tree in a pytest of their own and return its exit code."""
    # Read once, before torch is imported: without it two busy processes slow each other.
    settings = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    path = os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, **settings, "PYTHONPATH": path}
    # Where nothing may be kept, each start would compile all modules, which is no user's start.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    # The project's own options skip benchmarks and collect doctests: neither is wanted here.
    command = [sys.executable, "-m", "pytest", *map(str, files), "-o", "addopts=--strict-markers"]
    quiet = ["-q", "-rs", "-p", "no:cacheprovider", "--benchmark-quiet"]
    # Its lines are for the person; stdout is for our rows.
    return subprocess.run(
        [*command, *quiet, *options], cwd=source, env=environment, stdout=sys.stderr
    ).returncode


def _measure(root: Path, files: Sequence[Path], *, save: bool, as_json: bool) -> None:
    """Run benchmarks one by one, keeping each in runs/benchmarks/ as it ends, and print all."""
    from harness.measure.goals import read_baseline, save_baseline

    folder = root / "runs" / "benchmarks" / dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    folder.mkdir(parents=True, exist_ok=True)
    found, failed = [], []
    for number, file in enumerate(files, start=1):
        say(f"{number} of {len(files)}: {file.stem}")
        kept = folder / f"{file.stem}.json"
        if run_pytest(SOURCE, [file], f"--benchmark-json={kept}"):
            failed.append(file.stem)
        # It is not there, or empty, where all was skipped.
        if kept.exists() and kept.stat().st_size:
            new = read_baseline(kept)
            found += new.measured()
            if save:
                save_baseline(root, new)
    _print([_row(item) for item in found], as_json=as_json)
    if failed:
        raise RunError(f"a benchmark did not run to its end ({', '.join(failed)}): see above")


def _row(item: Measured) -> dict[str, Any]:
    told = ("name", "measured", "met", "from_records", "other_cores", "disturbed", "date")
    row = {name: getattr(item, name) for name in told}
    return {**row, **item.goal.model_dump(), "goal": item.goal.in_words()}


def _print(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    columns = ["name", "measured", "goal", "unit", "met", "other_cores"]
    print_rows(rows, as_json=as_json, columns=columns)
    missed = [row["name"] for row in rows if not row["met"]]
    tail = f"; missed: {', '.join(missed)}" if missed else ""
    say(f"{len(rows) - len(missed)} of {len(rows)} goals met{tail}")
    if crowded := [row["name"] for row in rows if row["disturbed"]]:
        say(f"others kept the machine too busy to judge or store these: {', '.join(crowded)}")
