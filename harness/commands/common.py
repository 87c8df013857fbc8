"""Options that several verbs share, and how rows are printed."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from harness.errors import SpecError, UsageError, nearest
from harness.outgoing import tidy
from harness.terminal import print_table

if TYPE_CHECKING:  # what `repro list` needs none of
    from harness.declare.overrides import Overrides
    from harness.declare.params import Scalar
    from harness.declare.profiles import Profile
    from harness.declare.task import Kind, Task
    from harness.registry import BrokenTask, Library
    from harness.run.plan import Plan
    from harness.store.workspace import Workspace

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
ExecutorOption = Annotated[str, typer.Option(help="local (processes) or inline.")]


def group(*, help: str, epilog: str = "") -> typer.Typer:
    """Return a group of verbs, told in plain text as all others are."""
    return typer.Typer(
        help=help, epilog=epilog, no_args_is_help=True, add_completion=False, rich_markup_mode=None
    )


CELL_CHARS = 10_000
MOST_TOLD = 5
"""Tasks that are named where none of many has a trial."""
LEAST_FOLDED = 24
"""Characters of a column of words in a table that is wider than the terminal."""


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
    kind: str | None = None,
    profile: str = "smoke",
    settings: Sequence[str] | None = None,
    seeds: int | None = None,
    *,
    reads: bool = False,
    library: Library | None = None,
) -> Asked:
    """Return what the words of a command stand for; only the papers concerned are imported.

    reads: results must be there. library: what is declared, where the verb has loaded it.
    Raises UsageError for a name that is none, and for an override that no trial takes.
    """
    from harness.registry import load_asked
    from harness.store.trial import check_overrides
    from harness.store.workspace import find_results, find_workspace

    scale = parse_profile(profile)
    library = library or load_asked(selectors or [])
    tasks = chosen(library, selectors, kind)
    overrides = parse_overrides(settings or [], seeds)
    if overrides and not tasks:
        fail_if_broken()
    check_overrides(tasks, overrides)
    workspace = find_results() if reads else find_workspace()
    return Asked(library, tasks, scale, workspace.with_overrides(overrides))


def command_words(
    selectors: Sequence[str] | None, kind: str | None, profile: str, overrides: Overrides
) -> str:
    """Return what follows a verb that is to go on where another one stopped."""
    words = [*(selectors or []), *(["--kind", kind] if kind else []), "--profile", profile]
    return shlex.join(words) + overrides.options


def headed(text: str, overrides: Overrides) -> str:
    """Return a text below what it is of, where that is a variant."""
    label = overrides.label
    return f"{label[:1].upper()}{label[1:]}: not what is committed.\n\n{text}" if label else text


def shown(path: Path) -> Path:
    """Return a path as short as the folder that one stands in allows."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def parse_profile(name: str) -> Profile:
    """Return the profile. Raises UsageError that names the nearest one."""
    from harness.declare.profiles import PROFILES

    profile: Profile = one_of(name, PROFILES, "profile")
    return profile


def parse_kind(name: str | None) -> Kind | None:
    """Return the kind. Raises UsageError that names the nearest one."""
    from harness.declare.task import Kind

    return None if name is None else one_of(name, get_args(Kind), "kind")


def one_of(name: str, known: Sequence[Any], what: str) -> Any:
    """Return the name. Raises UsageError that names the nearest one unless it is known."""
    if name not in known:
        raise UsageError(
            f"no {what} is called {name!r}{nearest(name, known)} (there are {', '.join(known)})"
        )
    return name


broken_said: list[str] = []
"""What this command has named as broken."""


def chosen(
    library: Library, selectors: Sequence[str] | None, kind: str | None = None
) -> list[Task]:
    """Return the tasks that were asked for; what is broken among them is named on stderr.

    The command does its work on the others, and then fails: see `fail_if_broken`.
    """
    tasks = library.select(selectors or [], parse_kind(kind))
    say_all_broken(library, selectors or [])
    return tasks


def say_all_broken(library: Library, selectors: Sequence[str]) -> list[BrokenTask]:
    """Name what is broken of what some selectors ask for, and return it."""
    found = library.broken_among(selectors)
    for item in found:
        say_broken(f"{item.id} ({item.file}): {item.reason}")
    return found


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
    """Print rows on stdout: all fields as JSON, or some as an aligned table."""
    if as_json:
        typer.echo(json.dumps([dict(row) for row in rows], indent=1, ensure_ascii=False))
        return
    heads = [column.replace("_", " ") for column in columns]
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    aligned = list(_aligned([heads, *cells]))
    # A pipe has no width, so that nothing is cut or folded.
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else max(map(len, aligned))
    if max(map(len, aligned)) <= room:
        typer.echo("\n".join(aligned))
    elif not _print_folded(heads, cells, room):
        typer.echo("\n".join(line for row in cells for line in _block(heads, row, room)))


def _print_folded(heads: Sequence[str], cells: Sequence[Sequence[str]], room: int) -> bool:
    """Print a table whose columns of words are folded between them; say whether these have room.

    A name or a number is never broken: nobody could copy it.
    """
    from rich.table import Table

    columns = list(zip(heads, *cells, strict=True))
    has_words = [any(" " in cell for cell in column[1:]) for column in columns]
    names = [c for c, words in zip(columns, has_words, strict=True) if not words]
    left = room - 2 * (len(columns) - 1) - sum(max(map(len, column)) for column in names)
    if left < LEAST_FOLDED * sum(has_words) or not any(has_words):
        return False
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for head, words in zip(heads, has_words, strict=True):
        table.add_column(head, overflow="fold", no_wrap=not words)
    for texts in cells:
        table.add_row(*texts)
    print_table(table, width=room)
    return True


def _block(heads: Sequence[str], row: Sequence[str], room: int) -> list[str]:
    """Return a row as its first cell, with the others below it by their names."""
    told = "; ".join(f"{h}: {c}" for h, c in zip(heads[1:], row[1:], strict=True) if c)
    below = textwrap.wrap(
        told, room, initial_indent="  ", subsequent_indent="  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return [row[0], *below]


def _aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield lines of a table as text, a column as wide as its widest cell."""
    flat = [[" ".join(cell.split("\n")) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*flat, strict=True)]
    for line in flat:
        yield "  ".join(map(str.ljust, line, widths)).rstrip()


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


def say_no_trials(plan: Plan) -> None:
    """Say of a plan without any trial which commands run its first tasks."""
    from harness.run.awaited import run_elsewhere

    if not plan.items:
        for line in run_elsewhere(plan.tasks[:MOST_TOLD], plan.profile, plan.overrides):
            say(line)
