"""Options that several verbs share, and how rows are printed."""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.errors import SpecError, UsageError
from harness.outgoing import tidy
from harness.terminal import WIDTH, wrapped

if TYPE_CHECKING:  # what `repro list` needs none of
    from harness.declare.overrides import Overrides
    from harness.declare.params import Scalar
    from harness.declare.profiles import Profile
    from harness.declare.task import Task
    from harness.registry import Library
    from harness.run.plan import Plan
    from harness.store.workspace import Workspace

Selectors = Annotated[
    list[str] | None,
    typer.Argument(help="Task ids, shell patterns or papers; all tasks where none is given."),
]
ProfileOption = Annotated[
    str, typer.Option("--profile", "-p", help="Scale: smoke, cpu, gpu or paper.")
]
StoredProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Scale; the largest that is stored.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON rows.")]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Also over a file that git tracks, or of another kind.")
]
# A verb that takes one of the two takes both, and hands them to `asked_for`.
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Override a parameter: name=value.")
]
SeedsOption = Annotated[int | None, typer.Option("--seeds", help="Number of seeds.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0: as many as cores.")]
BlocksOption = Annotated[
    Path | None, typer.Option("--blocks", help="File that cuts a card's time into blocks.")
]
ExecutorOption = Annotated[str, typer.Option(help="local (processes), inline, or ray (a cluster).")]


def group(*, help: str, epilog: str = "") -> typer.Typer:
    """Return a group of verbs, told in plain text as all others are."""
    return typer.Typer(
        help=help, epilog=epilog, no_args_is_help=True, add_completion=False, rich_markup_mode=None
    )


CELL_CHARS = 10_000
MOST_TOLD = 5
"""Tasks that are named where none of many has a trial."""
LEAST_WRAPPED = 40
"""Characters that the last column of a table needs beside the others."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a verb was asked for: some tasks, at a scale, of the checkout or of a variant of it."""

    library: Library
    tasks: list[Task]
    profile: Profile
    workspace: Workspace

    @property
    def overrides(self) -> Overrides:
        return self.workspace.overrides


def asked_for(
    selectors: Sequence[str] | None,
    profile: str = "smoke",
    settings: Sequence[str] | None = None,
    seeds: int | None = None,
    *,
    reads: bool = False,
) -> Asked:
    """Return what the words of a command stand for; only the papers concerned are imported.

    What is broken among them is named on stderr: the command does its work on the others, and
    then fails, see `fail_if_broken`.

    reads: results must be there.
    Raises UsageError for a name that is none, and for an override that no trial takes.
    """
    from harness.declare.profiles import parse_profile
    from harness.registry import load_asked
    from harness.store.trial import check_overrides
    from harness.store.workspace import find_results, find_workspace

    scale, library = parse_profile(profile), load_asked(selectors or [])
    tasks = library.select(selectors or [])
    say_all_broken(library, selectors or [])
    overrides = parse_overrides(settings or [], seeds)
    if overrides and not tasks:
        fail_if_broken()
    check_overrides(tasks, overrides)
    workspace = find_results() if reads else find_workspace()
    return Asked(library, tasks, scale, workspace.with_overrides(overrides))


def command_words(selectors: Sequence[str] | None, asked: Asked) -> str:
    """Return what follows a verb that is to go on where another one stopped."""
    words = [*(selectors or []), "--profile", asked.profile]
    return shlex.join(words) + asked.overrides.options


def headed(text: str, overrides: Overrides) -> str:
    """Return a text below what it is of, where that is a variant."""
    label = overrides.label
    return f"{label[:1].upper()}{label[1:]}: not what is committed.\n\n{text}" if label else text


def shown(path: Path) -> Path:
    """Return a path as short as the folder that one stands in allows."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


broken_said: list[str] = []
"""What this command has named as broken."""


def say_all_broken(library: Library, selectors: Sequence[str]) -> None:
    """Name what is broken of what some selectors ask for."""
    for item in library.broken_among(selectors):
        say_broken(f"{item.id} ({item.file}): {item.reason}")


def say_broken(what: str) -> None:
    """Name what is broken, and let the command end as failed once it has done the rest."""
    say(f"broken: {what}")
    broken_said.append(what)


def fail_if_broken(*results: object, **parameters: object) -> None:
    """End a command that was through as failed, where something that it was to do is broken."""
    if broken_said:
        raise typer.Exit(SpecError.exit_code)


def parse_overrides(settings: Sequence[str], num_seeds: int | None) -> Overrides:
    """Return `--set name=value` and `--seeds N` as parameters; values are read as JSON.

    >>> print(parse_overrides(["width=512", "data=mnist"], 10))
    data=mnist, seeds=10, width=512
    """
    from harness.declare.overrides import SEEDS, Overrides

    overrides: dict[str, Scalar] = {} if num_seeds is None else {SEEDS: num_seeds}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {setting!r}: write name=value")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"--set {setting!r}: need a finite number")
        if name in overrides:
            raise UsageError(f"--set {setting}: {name} is set twice")
        overrides[name] = value if isinstance(value, (bool, int, float, str)) else text
    count = overrides.get(SEEDS, 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(f"--seeds {count}: need a whole number of at least 1")
    return Overrides(overrides)


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


def time_told(seconds: float, of: str = "") -> str:
    """Return a time for people, below a minute in seconds.

    >>> time_told(0.42), time_told(8.26, "core-"), time_told(59), time_told(75, "core-")
    ('0.4 s', '8.3 core-s', '59.0 s', '1.2 core-min')
    """
    return f"{seconds:.1f} {of}s" if seconds < 60.0 else f"{seconds / 60.0:.1f} {of}min"


def print_rows(rows: Sequence[Mapping[str, Any]], *, as_json: bool, columns: Sequence[str]) -> None:
    """Print rows on stdout: all fields as JSON, or some as a table with aligned columns.

    The last column, where words stand, is wrapped: beside the others, or below where they leave
    it no room.
    """
    if as_json:
        typer.echo(json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False))
        return
    heads = [column.replace("_", " ") for column in columns]
    cells = [heads, *([_cell(row.get(column)) for column in columns] for row in rows)]
    *widths, last = (max(map(len, column)) for column in zip(*cells, strict=True))
    indent = sum(width + 2 for width in widths)
    is_beside = indent + min(last, LEAST_WRAPPED) <= WIDTH
    for *before, words in cells:
        head = "".join(f"{cell:{width}}  " for cell, width in zip(before, widths, strict=True))
        text = "\n".join(wrapped(words, indent if is_beside else 4))
        line = f"{head}{text.lstrip()}" if is_beside else f"{head.rstrip()}\n{text}"
        typer.echo(line.rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    return " ".join(tidy(str(value), most=CELL_CHARS).split("\n"))


def say(text: str) -> None:
    """Print a line for the person, on stderr: stdout is for results."""
    sys.stderr.write(text + "\n")


def say_no_trials(plan: Plan) -> None:
    """Say of a plan without any trial which commands run its first tasks."""
    from harness.run.awaited import run_elsewhere

    if not plan.items:
        for line in run_elsewhere(plan.tasks[:MOST_TOLD], plan.profile, plan.overrides):
            say(line)
