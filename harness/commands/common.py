"""Options that several verbs share, and how rows are printed."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

import typer

from harness.declare.params import Scalar
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Kind
from harness.errors import UsageError, nearest
from harness.outgoing import tidy

Selectors = Annotated[
    list[str] | None,
    typer.Argument(help="Task ids, shell patterns or papers; all tasks where none is given."),
]
KindOption = Annotated[
    str | None, typer.Option("--kind", help="Only table, figure, ablation, kernel or theory.")
]
ProfileOption = Annotated[
    str, typer.Option("--profile", "-p", help="Scale: smoke, cpu, gpu or paper.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON rows.")]

ForceOption = Annotated[
    bool, typer.Option("--force", help="Also over a file that git tracks, or of another kind.")
]
CohortOption = Annotated[
    str | None, typer.Option("--cohort", help="Only one set of seeds: first, cohort-1, ...")
]

CELL_CHARS = 10_000


def parse_profile(name: str) -> Profile:
    """Return the profile. Raises UsageError that names the nearest one."""
    for profile in PROFILES:
        if profile == name:
            return profile
    raise UsageError(
        f"no profile is called {name!r}{nearest(name, PROFILES)} (there are {', '.join(PROFILES)})"
    )


def parse_kind(name: str | None) -> Kind | None:
    """Return the kind. Raises UsageError that names the nearest one."""
    if name is None:
        return None
    kinds: tuple[Kind, ...] = get_args(Kind)
    for kind in kinds:
        if kind == name:
            return kind
    raise UsageError(
        f"no kind is called {name!r}{nearest(name, kinds)} (there are {', '.join(kinds)})"
    )


def parse_overrides(settings: Sequence[str], num_seeds: int | None) -> dict[str, Scalar]:
    """Return `--set name=value` and `--seeds N` as parameters; values are read as JSON.

    >>> parse_overrides(["width=512", "data=mnist"], 10)
    {'width': 512, 'data': 'mnist', 'seeds': 10}
    """
    overrides: dict[str, Scalar] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {setting!r}: write name=value")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"--set {setting!r}: need a finite number")
        overrides[name] = value if isinstance(value, (bool, int, float, str)) else text
    if num_seeds is not None:
        overrides["seeds"] = num_seeds
    count = overrides.get("seeds", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(f"--seeds {count}: need a whole number of at least 1")
    return overrides


def parse_duration(text: str | None) -> float | None:
    """Return seconds from `90s`, `25m`, `1.5h` or `1h30m`. Raises UsageError otherwise.

    >>> parse_duration("1h30m")
    5400.0
    """
    if text is None:
        return None
    if not re.fullmatch(r"(\d+(\.\d+)?[hms])+", text):
        raise UsageError(f"duration {text!r}: write it as 90s, 25m or 1h30m")
    unit_s = {"h": 3600.0, "m": 60.0, "s": 1.0}
    return sum(float(n) * unit_s[unit] for n, _, unit in re.findall(r"(\d+(\.\d+)?)([hms])", text))


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool, columns: Sequence[str]) -> None:
    """Print rows on stdout: all fields as JSON, or some as an aligned table."""
    if as_json:
        typer.echo(json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    # Off a terminal nothing may be cut: a pipe has no width.
    Console(width=None if sys.stdout.isatty() else 240, soft_wrap=False, markup=False).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_cell(item) for item in value)
    # Before the table folds it: a secret in two lines would not be known.
    return tidy(str(value), most=CELL_CHARS)


def say(text: str) -> None:
    """Print a line for the person, on stderr: stdout is for results."""
    sys.stderr.write(text + "\n")
