"""What Python takes from stored results: tables, verdicts, figures; and how it makes new ones.

`import harness` is enough: `harness.load("supar/fig06")`. Nothing is imported before it is asked
for, and a name that does not exist is answered with the nearest that does.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Unpack

from harness.declare.overrides import SEEDS, Overrides
from harness.declare.params import Scalar
from harness.declare.profiles import parse_profile
from harness.declare.task import Task
from harness.errors import HarnessError, NothingRan, RunError, UsageError, one_of
from harness.registry import load_asked
from harness.store.workspace import Workspace, find_results, find_workspace

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.looks import Options
    from harness.publish.report.paper_table import TableFormat
    from harness.publish.stored import Stored

Settings = Mapping[str, Scalar]
"""Values of parameters in the place of those of the grid, as `--set` gives them."""


def load(
    task: str,
    profile: str = "cpu",
    *,
    set: Settings | None = None,
    seeds: int | None = None,
) -> pd.DataFrame:
    """Return a task's stored table: a row per grid point and seed, units last in columns' names.

    set, seeds: of a variant that was run with them.
    Raises UsageError for what is not stored, DataError for what is damaged.

    >>> sorted(load("supar/fig06")["scheme"].unique())
    ['mup', 'sp', 'supar']
    """
    return _stored(task, profile, set, seeds).result.table


def verdicts(
    selector: str | Sequence[str] | None = None,
    profile: str | None = None,
    *,
    set: Settings | None = None,
    seeds: int | None = None,
) -> pd.DataFrame:
    """Return the verdicts of tasks, a row each with the fields of `check --json`.

    selector: a task's id, a shell pattern, a paper, or several; all tasks by default; profile: by
    default those that are committed, else smoke.

    >>> verdicts("supar/tab04", "cpu")["verdict"].unique().tolist()
    ['HOLDS']
    """
    import pandas as pd

    from harness.publish.check_row import CheckRow
    from harness.publish.verdicts import json_rows, verdicts_of

    asked = [selector] if isinstance(selector, str) else list(selector or [])
    library = load_asked(asked)
    tasks = library.select(asked)
    workspace = _opened(find_results(), tasks, set, seeds)
    scale = None if profile is None else parse_profile(profile)
    rows = verdicts_of(workspace, library, tasks, scale)
    columns = None if rows else [each.name for each in fields(CheckRow)]
    return pd.DataFrame(json_rows(rows, workspace.overrides), columns=columns)


def table(
    task: str,
    profile: str = "cpu",
    *,
    format: str = "text",
    long: bool = False,
    set: Settings | None = None,
    seeds: int | None = None,
) -> str:
    """Return a task's table as the paper prints it, its values beside ours in the same cells.

    Of a task that was not run, the paper's values alone, where there are any.
    format: text, markdown, latex or csv; long: a line for each row, seeds aggregated. Others, and
    what it raises, as for `load`.

    >>> print(table("supar/tab04", format="csv").splitlines()[0].count(",") > 1)
    True
    """
    from harness.publish.report.paper_table import TABLE_FORMATS
    from harness.publish.stored import NoResultError

    fmt: TableFormat = one_of(format, TABLE_FORMATS, "format")
    try:
        return _stored(task, profile, set, seeds).printed(fmt, long=long)
    except NoResultError as missing:
        return missing.paper_alone(fmt, long=long)


def figure(
    task: str,
    profile: str = "cpu",
    *,
    set: Settings | None = None,
    seeds: int | None = None,
    **options: Unpack[Options],
) -> Figure:
    """Return a task's figure as matplotlib's own, to be changed and saved by its caller.

    options: `width`, `height`, `ours_only`, `stamp`, `style`, `palette`, `font`. Others, and
    what it raises, as for `load`; SpecError for a task without a figure.

    >>> len(figure("supar/fig06").axes) > 2
    True
    """
    return _stored(task, profile, set, seeds).figure(**options)


def reproduce(
    task: str,
    profile: str,
    *,
    set: Settings | None = None,
    seeds: int | None = None,
    jobs: int = 0,
) -> pd.DataFrame:
    """Run what a task lacks at a profile, as `repro run` does, and return its table.

    jobs: processes, 0 for as many as there are cores. Runs in a process of its own, whose words
    appear on stderr; broken off, the same call goes on from there.
    Raises RunError where trials failed, UsageError as `load` does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as os.environ["REPRO_ROOT"]:
    ...     table = reproduce("supar/tab04", "smoke", jobs=1)
    >>> del os.environ["REPRO_ROOT"]
    >>> len(table) > 100
    True
    """
    asked = _opened(find_workspace(), [load_asked([task]).one(task)], set, seeds).overrides
    words = ["run", task, "--profile", parse_profile(profile), "--jobs", str(jobs)]
    words += shlex.split(asked.options)
    command = [sys.executable, "-m", "harness.cli", *words]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    last = ""
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        for last in process.stderr or ():
            sys.stderr.write(last)
    # A check that fails is told with its table.
    if process.returncode not in (0, 1):
        kinds: dict[int, type[HarnessError]] = {2: UsageError, 4: NothingRan}
        said = last.strip().removeprefix("repro: ") or f"it ended with {process.returncode}"
        raise kinds.get(process.returncode, RunError)(said)
    return load(task, profile, set=set, seeds=seeds)


def _stored(name: str, profile: str, set: Settings | None, seeds: int | None) -> Stored:
    from harness.publish.stored import find_stored

    scale, library = parse_profile(profile), load_asked([name])
    task = library.one(name)
    return find_stored(library, _opened(find_results(), [task], set, seeds), task, [scale])


def _opened(
    workspace: Workspace, tasks: Sequence[Task], set: Settings | None, seeds: int | None
) -> Workspace:
    """Return the checkout, or a variant of it. Raises UsageError for what no trial has."""
    from harness.store.trial import check_overrides

    overrides = Overrides({**(set or {}), **({} if seeds is None else {SEEDS: seeds})})
    check_overrides(tasks, overrides)
    return workspace.with_overrides(overrides)
