"""What follows from records: table, verdicts, figure, and the packed file of each experiment."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.atomic import write_bytes
from harness.check import CheckRow, check_task
from harness.errors import HarnessError
from harness.records import RecordStore
from harness.registry import Library, walk_experiments
from harness.results import (
    TaskResult,
    build_result,
    figure_path,
    load_result,
    write_result,
)
from harness.task import PROFILES, Profile, Scalar, Task
from harness.trial import Trial, grid_of, with_upstream
from harness.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)


def refresh_task(
    workspace: Workspace,
    library: Library,
    task: Task,
    profile: Profile,
    *,
    overrides: Mapping[str, Scalar] | None = None,
) -> list[CheckRow]:
    """Rebuild a task's CSV, JSON and figure from its records; return its verdicts.

    Nothing is written where no trial has a result. A figure that cannot be drawn from an
    incomplete table is left out with a warning; the table and the verdicts stand.
    """
    built = build_result(task, profile, RecordStore(workspace), overrides)
    reference = reference_of(library, task)
    if built is None:
        return check_task(task, None, profile, reference)
    table, meta = built
    write_result(workspace, task, table, meta)
    # Verdicts and figure come from the file, as anyone who checks or draws it later has it.
    result = load_result(workspace, task, profile)
    assert result is not None
    rows = check_task(task, result, profile, reference)
    verdicts = [row.to_json() for row in rows]
    write_result(workspace, task, table, meta.model_copy(update={"verdicts": verdicts}))
    if task.figure is not None:
        _draw(workspace, task, result, reference, profile)
    return rows


def _draw(
    workspace: Workspace,
    task: Task,
    result: TaskResult,
    reference: pd.DataFrame,
    profile: Profile,
) -> None:
    from harness.figures import draw

    complete = result.meta.trials.without_result == 0
    try:
        image = draw(task, table=result.table, reference=reference, profile=profile)
    except (HarnessError, KeyError, ValueError, IndexError):
        if complete:
            raise
        log.warning("%s: no figure yet, its table is incomplete", task.id)
        return
    write_bytes(figure_path(workspace, task, profile), image)


def draw_stored(workspace: Workspace, library: Library, task: Task) -> list[Path]:
    """Draw a task's figure again for every profile that has a stored table."""
    paths = []
    for profile in PROFILES if task.figure is not None else ():
        result = load_result(workspace, task, profile)
        if result is not None:
            _draw(workspace, task, result, reference_of(library, task), profile)
            paths.append(figure_path(workspace, task, profile))
    return paths


def reference_of(library: Library, task: Task) -> pd.DataFrame:
    """Return the paper's reference rows for a task, as a frame."""
    from harness.reference import load_reference

    word = task.id.split("/")[1]
    return load_reference(library.papers[task.paper].folder, word)


def pack_experiments(
    workspace: Workspace, task: Task, profile: Profile, store: RecordStore
) -> list[Path]:
    """Write the committed record files behind a task, upstream trials included."""
    trials: dict[str, dict[str, Trial]] = {}
    for experiment in walk_experiments(task):
        for trial in grid_of(experiment, profile):
            for each in with_upstream(trial):
                trials.setdefault(each.experiment.id, {})[each.key] = each
    packed = [store.pack(name, profile, group.values()) for name, group in sorted(trials.items())]
    return [path for path in packed if path is not None]
