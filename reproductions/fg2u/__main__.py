"""Which methods fit into memory, what an estimate takes by each, and how noisy it is.

python -m reproductions.fg2u choose mine.py:problem --budget-gib 8 --num-directions 32 --chunk 8
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from harness.errors import UsageError
from harness.outgoing import guard_streams
from harness.terminal import exit_on_error, print_table
from reproductions.fg2u.method.costs import Cost, default_methods, memory_report
from reproductions.fg2u.method.problem import Problem
from reproductions.fg2u.method.trees import num_entries

ASSUMED = (
    "Memory: live tensors of an estimate, beyond phi, data and initial weights; extrapolated from"
    " unrolls of at most seven steps. Error: root mean square over the gradient's norm."
)
EXAMPLE = "example"
"""The name of a problem of ours: ten images that train a small net on digits."""
WIDTH = 100
"""Columns of a table that is written to a file or pipe."""
app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def main() -> None:
    """Hypergradients of unrolled inner problems."""


@app.command()
def choose(
    where: Annotated[
        str,
        typer.Argument(
            metavar="PROBLEM",
            help="FILE.py:FUNCTION, which returns (problem, phi, batch); or `example`.",
        ),
    ],
    budget_gib: Annotated[float, typer.Option(help="Memory at hand, in GiB.")] = 8.0,
    num_directions: Annotated[int, typer.Option(help="Directions per estimate, b.")] = 32,
    chunk: Annotated[int, typer.Option(help="Directions at a time.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Rows as JSON.")] = False,
) -> None:
    """Say which methods fit into memory, what an estimate takes, and how noisy it is."""
    with exit_on_error():
        if not 0.0 < budget_gib < inf:
            raise UsageError(f"--budget-gib {budget_gib:g}: need a finite budget above 0")
        problem, phi, batch = load_problem(where)
        methods = default_methods(problem, phi, num_directions=num_directions, chunk=chunk)
        costs = memory_report(problem, phi, batch, methods)
    rows = [row_of(cost, round(budget_gib * 2**30)) for cost in costs]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    workload = (
        f"{problem.num_steps} inner steps, {num_entries(phi):,} entries of phi,"
        f" a budget of {budget_gib:g} GiB."
    )
    print_table(shown(rows), workload, ASSUMED, width=WIDTH)


def load_problem(where: str) -> tuple[Problem, Any, Any]:
    """Return what a user's function makes, or the example.

    Raises UsageError where there is no such function, or it fails or returns something else.
    """
    if where == EXAMPLE:
        from reproductions.fg2u.models.condensation import example

        return example()
    file, _, name = where.rpartition(":")
    path = Path(file)
    if not file or not path.is_file():
        raise UsageError(f"{where!r}: write FILE.py:FUNCTION with a file that is there, or example")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no module of Python")
    module = importlib.util.module_from_spec(spec)
    with _told(str(path)):
        spec.loader.exec_module(module)
    make = getattr(module, name, None)
    if not callable(make):
        raise UsageError(f"{path} has no function {name!r}")
    with _told(f"{where}, called without arguments,"):
        made = make()
    if not (isinstance(made, tuple) and len(made) == 3 and isinstance(made[0], Problem)):
        raise UsageError(f"{where} must return a tuple (problem, phi, batch)")
    return made


@contextlib.contextmanager
def _told(who: str) -> Iterator[None]:
    """Turn what a user's code raises into one sentence."""
    try:
        yield
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise UsageError(f"{who} raised {said}") from error


def row_of(cost: Cost, budget_bytes: int) -> dict[str, Any]:
    """Return a method's cost as plain values."""
    segment = getattr(cost.method, "segment", None)
    return {
        "method": cost.method.name + (" (root of T)" if segment == 0 else ""),
        "fits": cost.fits(budget_bytes),
        "peak_bytes": cost.peak_bytes,
        "seconds": cost.seconds,
        "biased": cost.is_biased,
        "relative_error": cost.relative_error,
    }


def shown(rows: Sequence[dict[str, Any]]) -> Table:
    """Return rows in MiB and seconds, those that fit first, the least memory first."""
    found = Table(box=None, pad_edge=False)
    for head in ("method", "fits"):
        found.add_column(head, no_wrap=True)
    for head in ("peak MiB", "seconds", "error"):
        found.add_column(head, justify="right")
    for row in sorted(rows, key=lambda row: (not row["fits"], row["peak_bytes"])):
        error = row["relative_error"]
        told = "biased" if row["biased"] else "exact" if error == 0.0 else f"{error:.1f}"
        found.add_row(
            row["method"],
            "yes" if row["fits"] else "no",
            f"{row['peak_bytes'] / 2**20:,.2f}",
            f"{row['seconds']:.3g}",
            told,
        )
    return found


if __name__ == "__main__":
    guard_streams()
    app()
