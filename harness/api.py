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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from harness.declare.cohorts import FIRST
from harness.declare.overrides import SEEDS, Overrides
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import HarnessError, RunError, UsageError
from harness.publish.not_run import NoResultError
from harness.registry import Library, load_registry
from harness.store.workspace import Workspace, find_results, find_workspace

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.looks import Options
    from harness.publish.report.paper_table import TableFormat

Settings = Mapping[str, Scalar]
"""Values of parameters in the place of those of the grid, as `--set` gives them."""


def load(
    task: str,
    profile: str = "cpu",
    *,
    set: Settings | None = None,
    seeds: int | None = None,
    cohort: str | None = None,
) -> pd.DataFrame:
    """Return a task's stored table: a row per grid point and seed, units last in columns' names.

    set, seeds: of a variant that was run with them; cohort: one set of seeds alone.
    Raises UsageError for what is not stored, DataError for what is damaged.

    >>> load("supar/fig06", cohort="first").groupby("scheme")["seed"].nunique().to_dict()
    {'mup': 3, 'sp': 3, 'supar': 3}
    """
    return _stored(task, profile, set, seeds, cohort).table


def verdicts(
    selector: str | Sequence[str] | None = None,
    profile: str | None = None,
    *,
    set: Settings | None = None,
    seeds: int | None = None,
    cohort: str | None = None,
) -> pd.DataFrame:
    """Return the verdicts of tasks, decided anew, a row each with the fields of `check --json`.

    selector: a task's id, a claim as `check` prints it (`task:claim`), a shell pattern, a paper, or
    several; all tasks by default; profile: by default those that are committed, else smoke.

    >>> verdicts("supar/tab04", "cpu").query("decides")["verdict"].unique().tolist()
    ['HOLDS']
    """
    from harness.publish.verdicts import decided, frame, json_rows, of_claims

    asked = [selector] if isinstance(selector, str) else list(selector or [])
    library, scale = load_registry(), None if profile is None else _profile(profile)
    claims, selectors = _claims_among(library, asked)
    tasks = library.select(selectors)
    workspace = _opened(find_results(), tasks, set, seeds)
    rows = decided(library, workspace, tasks, scale, cohort, gone=selectors)
    return frame(json_rows(library, workspace.overrides, of_claims(rows, claims)))


def _claims_among(
    library: Library, selectors: Sequence[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the claims that some selectors name, by task, and selectors of all their tasks.

    A task that is asked for whole has no claim among them.
    """
    whole, claims = list[str](), dict[str, list[str]]()
    for selector in selectors:
        name, colon, claim = selector.partition(":")
        if colon:
            claims.setdefault(library.one(name).id, []).append(claim)
        else:
            whole.append(selector)
    told = [task.id for task in library.select(whole)] if whole else []
    named = {task: names for task, names in claims.items() if task not in told}
    return named, [*whole, *named]


def table(
    task: str,
    profile: str = "cpu",
    *,
    format: str = "text",
    long: bool = False,
    set: Settings | None = None,
    seeds: int | None = None,
    cohort: str | None = None,
) -> str:
    """Return a task's table as the paper prints it, its values beside ours in the same cells.

    Of a task that was not run, the paper's values alone, where there are any.
    format: text, markdown, latex or csv; long: a line for each row, seeds aggregated. Others, and
    what it raises, as for `load`.

    >>> print(table("supar/tab04", format="csv").splitlines()[0].count(",") > 1)
    True
    """
    from harness.commands.common import one_of
    from harness.publish.refresh import reference_of
    from harness.publish.report.paper_table import TABLE_FORMATS, table_as

    fmt: TableFormat = one_of(format, TABLE_FORMATS, "format")
    try:
        found = _stored(task, profile, set, seeds, cohort)
    except NoResultError as missing:
        text = "" if long else missing.paper_alone(fmt)
        if not text:
            raise
        return text
    return table_as(
        fmt, found.task, found.table, reference_of(found.library, found.task),
        title=found.library.titles[found.task.id], profile=found.profile, long=long,
        overrides=found.overrides, aside=found.aside,
    )  # fmt: skip


def figure(
    task: str,
    profile: str = "cpu",
    *,
    set: Settings | None = None,
    seeds: int | None = None,
    cohort: str | None = None,
    **options: Unpack[Options],
) -> Figure:
    """Return a task's figure as matplotlib's own, to be changed and saved by its caller.

    options: `width`, `height`, `ours_only`, `stamp`, `style`, `palette`, `font`. Others, and
    what it raises, as for `load`; SpecError for a task without a figure.

    >>> len(figure("supar/fig06").axes) > 2
    True
    """
    from harness.publish.figures import figure_of
    from harness.publish.refresh import reference_of, stands_in

    found = _stored(task, profile, set, seeds, cohort)
    return figure_of(
        found.task,
        table=found.table,
        reference=reference_of(found.library, found.task),
        profile=found.profile,
        stands_in=stands_in(found.library, found.task, found.profile, found.overrides),
        aside=found.aside,
        **options,
    )


def run(
    task: str,
    profile: str,
    *,
    set: Settings | None = None,
    seeds: int | None = None,
    cohort: str | None = None,
    jobs: int = 0,
) -> pd.DataFrame:
    """Run what a task lacks at a profile, as `repro run` does, and return its table.

    jobs: processes, 0 for as many as there are cores. Runs in a process of its own, whose words
    appear on stderr; broken off, the same call goes on from there.
    Raises RunError where trials failed, UsageError as `load` does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as os.environ["REPRO_ROOT"]:
    ...     table = run("supar/tab04", "smoke", jobs=1)
    >>> del os.environ["REPRO_ROOT"]
    >>> len(table) > 100
    True
    """
    asked = _opened(find_workspace(), [load_registry().one(task)], set, seeds).overrides
    words = ["run", task, "--profile", _profile(profile), "--jobs", str(jobs)]
    words += shlex.split(asked.options) + (["--cohort", cohort] if cohort else [])
    with subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        last = ""
        for last in process.stderr or ():
            sys.stderr.write(last)
    # A check that fails is told with its table.
    if process.returncode not in (0, 1):
        kind: type[HarnessError] = UsageError if process.returncode == 2 else RunError
        raise kind(last.strip().removeprefix("repro: ") or f"it ended with {process.returncode}")
    return load(task, profile, set=set, seeds=seeds, cohort=cohort)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stored:
    """A task's stored table, and what it is of."""

    library: Library
    task: Task
    profile: Profile
    overrides: Overrides
    cohort: str | None
    table: pd.DataFrame

    @property
    def aside(self) -> str:
        """What sets the table apart from the committed one."""
        cohort = self.cohort if self.cohort not in (None, FIRST) else ""
        return ", ".join(filter(None, [self.overrides.label, cohort]))


def _stored(
    name: str, profile: str, set: Settings | None, seeds: int | None, cohort: str | None
) -> _Stored:
    from harness.run.awaited import awaited_by, awaited_text, run_command
    from harness.store.trial import check_cohort, trials_behind
    from harness.store.result import load_result

    library, scale = load_registry(), _profile(profile)
    task = library.one(name)
    workspace = _opened(find_results(), [task], set, seeds)
    if cohort is not None:
        check_cohort([task], [scale], cohort, workspace.overrides)
    result = load_result(workspace, task, scale)
    if result is None or (cohort is not None and cohort not in result.tables):
        what = " ".join(filter(None, [workspace.overrides.label, cohort]))
        makes = "harness.run with the same arguments makes it"
        if awaited := awaited_by(task):
            makes = awaited_text(task.id, awaited)
        elif not trials_behind([task], scale, workspace.overrides):
            makes = f"`{run_command(task, scale, workspace.overrides)}` runs it where it has trials"
        message = f"{task.id} has no result at {scale}{what and f' of the {what}'}: {makes}"
        raise NoResultError(message, library, task)
    return _Stored(
        library=library,
        task=task,
        profile=scale,
        overrides=workspace.overrides,
        cohort=cohort,
        table=result.table if cohort is None else result.tables[cohort],
    )


def _opened(
    workspace: Workspace, tasks: Sequence[Task], set: Settings | None, seeds: int | None
) -> Workspace:
    """Return the checkout, or a variant of it. Raises UsageError for what no trial has."""
    from harness.store.trial import check_overrides

    overrides = Overrides({**(set or {}), **({} if seeds is None else {SEEDS: seeds})})
    check_overrides(tasks, overrides)
    return workspace.with_overrides(overrides)


def _profile(name: str) -> Profile:
    from harness.commands.common import parse_profile

    return parse_profile(name)
