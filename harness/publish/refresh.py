"""What follows from records: table, verdicts, figure, and the packed file of each experiment."""

from __future__ import annotations

import importlib.util
import logging
import math
import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from harness.atomic import locked, write_bytes
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.errors import DataError, HarnessError, RunError
from harness.publish.check_row import CheckRow
from harness.publish.stand_ins import stand_ins
from harness.publish.stored import Stored
from harness.publish.verdicts import write_verdicts
from harness.registry import Library, experiments_of
from harness.store.result import (
    TaskResult,
    build_result,
    csv_path,
    figure_path,
    load_result,
    write_result,
)
from harness.store.store import RecordStore, holds
from harness.store.trial import Trial, grid_of, with_upstream
from harness.store.workspace import Workspace

log = logging.getLogger(__name__)


def refresh_task(workspace: Workspace, library: Library, task: Task, profile: Profile) -> None:
    """Rebuild a task's packed records, CSV, JSON and figure; what is as it was is not written.

    As in make, a figure newer than its table and its code is not drawn. Nothing is written where no
    trial has a result, and what is committed stays, with a warning, where the new table would lack
    more of its trials. A figure that cannot be drawn from an incomplete table is left out with a
    warning; the table stands.
    """
    store, overrides = RecordStore(workspace), workspace.overrides
    if workspace.is_committed(profile):
        trials = [trial for each in task.reads for trial in grid_of(each, profile, overrides)]
        num_missing = sum(store.result(trial) is None for trial in trials)
        if num_missing > _num_missing_before(workspace, task, profile):
            log.warning("%s: its table and records stay until all new trials have run", task.id)
            return
        # Records first: killed in between, a result never rests on what is not there, and what
        # a view raises costs no record.
        pack_experiments(task, profile, store)
    here = stand_ins(task, profile, library.titles[task.id], overrides)
    result = build_result(task, profile, store.read, overrides, stands_in=here)
    if result is None:
        return
    write_result(workspace, task, result)
    if task.figure is not None and not _is_drawn(workspace, task, profile):
        _draw(workspace, library, task, result, profile)


def _num_missing_before(workspace: Workspace, task: Task, profile: Profile) -> float:
    """Return how many of its trials a stored table lacks: all of them where there is no table."""
    try:
        stored = load_result(workspace, task, profile)
    except DataError:
        stored = None
    return stored.meta.trials.without_result if stored else math.inf


def _is_drawn(workspace: Workspace, task: Task, profile: Profile) -> bool:
    """Say whether the figure is newer than the table and than the module that draws it."""
    table = csv_path(workspace, task, profile)
    sources = [table, table.with_suffix(".json")]
    if task.draw and (module := importlib.util.find_spec(task.draw.module)) and module.origin:
        sources.append(Path(module.origin))
    try:
        drawn = figure_path(workspace, task, profile).stat().st_mtime_ns
        return all(path.stat().st_mtime_ns < drawn for path in sources)
    except OSError:
        return False


def _draw(
    workspace: Workspace, library: Library, task: Task, result: TaskResult, profile: Profile
) -> None:
    try:
        image = Stored(library, task, profile, workspace.overrides, result).image("svg")
    # What a view raises that finds rows, values or divisors missing.
    except (HarnessError, LookupError, ValueError, ArithmeticError):
        if not result.meta.trials.without_result:
            raise
        log.warning("%s: no figure yet, its table is incomplete", task.id)
        return
    path = figure_path(workspace, task, profile)
    if holds(path, image):
        path.touch()
    else:
        write_bytes(path, image)


def draw_stored(workspace: Workspace, library: Library, task: Task) -> list[Path]:
    """Draw a task's figure again for every profile that has a stored table."""
    paths = []
    for profile in PROFILES if task.figure is not None else ():
        result = load_result(workspace, task, profile)
        if result is not None:
            _draw(workspace, library, task, result, profile)
            paths.append(figure_path(workspace, task, profile))
    return paths


def pack_experiments(task: Task, profile: Profile, store: RecordStore) -> None:
    """Write the committed record files behind a task, upstream trials included."""
    trials: dict[str, dict[str, Trial]] = {}
    for experiment in experiments_of([task]):
        for trial in grid_of(experiment, profile):
            for each in with_upstream(trial):
                trials.setdefault(each.experiment.id, {})[each.key] = each
    for name, group in trials.items():
        store.pack(name, profile, group.values())


class Refresher:
    """Rebuilds a task's table and figure when its trials have ended; verdicts come at the end.

    What a view or a figure raises must not cost the trials that are still to run.
    """

    def __init__(self, workspace: Workspace, library: Library, profile: Profile) -> None:
        self.workspace, self.library, self.profile = workspace, library, profile
        self.done: set[str] = set()
        self.broken: dict[str, str] = {}

    def __call__(self, task: Task) -> None:
        self.done.add(task.id)
        try:
            # Where two runs go at once, the one that writes last must have read last.
            with self._alone():
                refresh_task(self.workspace, self.library, task, self.profile)
        except RunError:
            raise
        except Exception as error:
            log.debug("%s", task.id, exc_info=True)
            self.broken[task.id] = f"{_place(error)}{type(error).__name__}: {error}"

    def rest(self, tasks: Sequence[Task]) -> list[CheckRow]:
        """Refresh the tasks that were not refreshed yet, and return the verdicts of all."""
        for task in tasks:
            if task.id not in self.done:
                self(task)
        rows = []
        with self._alone():
            for paper in dict.fromkeys(task.paper for task in tasks):
                rows += write_verdicts(self.workspace, self.library, paper, self.profile)
        asked = {task.id for task in tasks} - self.broken.keys()
        return [row for row in rows if row.task in asked]

    def _alone(self) -> AbstractContextManager[bool]:
        return locked(self.workspace.runs / "locks" / "refresh.lock")


def _place(error: Exception) -> str:
    """Return the file and line of a paper's code that raised an error, where there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    harness = str(Path(__file__).resolve().parents[1])
    # What the harness and libraries called: a view, a quantity, a figure.
    own = [f for f in frames if "site-packages" not in f.filename and harness not in f.filename]
    return f"{own[-1].filename} line {own[-1].lineno}: " if own else ""
