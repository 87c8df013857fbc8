"""The verb that measures performance goals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.common import JsonOption, print_rows, say

Benchmarks = Annotated[
    list[str] | None,
    typer.Argument(help="Names or patterns of tests/benchmarks/bench_<name>.py; all for none."),
]


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
    from harness.bench import benchmark_files, goal_rows, load_benchmarks, run_benchmarks
    from harness.errors import RunError
    from harness.workspace import find_workspace

    root = find_workspace().root
    before = [] if stored else load_benchmarks(root)
    code = 0
    if not stored:
        source = Path(__file__).parents[2]
        code = run_benchmarks(source, benchmark_files(source, select or []), compare=compare)
    measured = [result for result in load_benchmarks(root) if result not in before]
    rows = goal_rows(before, measured)
    shown = [
        {**row, "goal": f"{row['direction'].replace('_', ' ')} {row['limit']:g}"} for row in rows
    ]
    columns = ["name", "measured", "before", "goal", "unit", "met"]
    print_rows(rows if as_json else shown, as_json=as_json, columns=columns)
    if code:
        raise RunError(f"a benchmark did not run to its end (pytest's exit code {code}): see above")
    missed = [row["name"] for row in rows if not row["met"]]
    say(f"{len(rows) - len(missed)} of {len(rows)} goals met" + _tail(missed))


def _tail(missed: list[str]) -> str:
    return f"; missed: {', '.join(missed)}" if missed else ""
