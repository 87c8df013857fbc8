"""The verb that measures performance goals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import JsonOption, print_rows, say

if TYPE_CHECKING:
    from harness.measure.bench import BenchmarkResult

Benchmarks = Annotated[
    list[str] | None,
    typer.Argument(help="Names or patterns of tests/benchmarks/bench_<name>.py; all for none."),
]

CROWDED_CORES = 0.2
"""More than this taken by others makes a time too long to judge a goal by."""


def mount(app: typer.Typer) -> None:
    """Add `bench` to the command line."""
    app.command("bench")(bench)


def bench(
    select: Benchmarks = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show the run before beside this one.")
    ] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing; print the stored results.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the performance goals into results/benchmarks/; a missed goal does not fail.

    Example:  repro bench cli_startup --compare
    """
    from harness.errors import DataError, RunError
    from harness.measure.bench import goal_rows, load_benchmarks
    from harness.store.workspace import find_workspace

    root = find_workspace().root
    before: list[BenchmarkResult] = []
    code = 0
    if not stored:
        try:
            before = load_benchmarks(root)
        except DataError as error:
            # This very run may make the file anew.
            say(f"nothing to compare with: {error}")
        code = _run(root, select or [], compare=compare)
    measured = [result for result in load_benchmarks(root) if result not in before]
    rows = goal_rows(before, measured)
    _show(rows, as_json=as_json)
    if code:
        raise RunError(f"a benchmark did not run to its end (pytest's exit code {code}): see above")


def _run(root: Path, select: list[str], *, compare: bool) -> int:
    """Run benchmarks; return the exit code of their pytest."""
    from harness.measure.bench import (
        benchmark_files,
        benchmarks_folder,
        check_writable,
        run_benchmarks,
    )

    source = Path(__file__).parents[2]
    files = benchmark_files(source, select)
    check_writable(source / ".benchmarks", benchmarks_folder(root))
    return run_benchmarks(source, files, compare=compare)


def _show(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """Print goals and measured values, and what to make of them."""
    shown = [
        {**row, "goal": f"{row['direction'].replace('_', ' ')} {row['limit']:g}"} for row in rows
    ]
    columns = ["name", "measured", "before", "goal", "unit", "met", "other_cores"]
    print_rows(rows if as_json else shown, as_json=as_json, columns=columns)
    missed = [row["name"] for row in rows if not row["met"]]
    say(f"{len(rows) - len(missed)} of {len(rows)} goals met" + _tail(missed))
    crowded = [row["name"] for row in rows if (row["other_cores"] or 0.0) > CROWDED_CORES]
    if crowded:
        say(f"others kept the machine busy, measure again when it is free: {', '.join(crowded)}")


def _tail(missed: list[str]) -> str:
    return f"; missed: {', '.join(missed)}" if missed else ""
