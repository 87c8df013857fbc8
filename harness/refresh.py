"""What follows from records: table, verdicts, figure, and the packed file of each experiment."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from harness.atomic import write_bytes
from harness.check import CheckRow, check_task
from harness.errors import HarnessError
from harness.records import RecordStore
from harness.registry import Library, walk_experiments
from harness.results import TaskResult, build_result, csv_path, figure_path, write_result
from harness.task import Profile, Scalar, Task
from harness.trial import Trial, grid_of
from harness.workspace import Workspace

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
    store = RecordStore(workspace)
    built = build_result(task, profile, store, overrides)
    reference = reference_of(library, task)
    if built is None:
        return check_task(task, None, profile, reference)
    table, meta = built
    result = TaskResult(table, meta, csv_path(workspace, task, profile))
    rows = check_task(task, result, profile, reference)
    verdicts = [row.to_json() for row in rows]
    write_result(workspace, task, table, meta.model_copy(update={"verdicts": verdicts}))
    if task.figure is not None:
        _draw(workspace, task, result, reference, profile)
    return rows


def _draw(
    workspace: Workspace, task: Task, result: TaskResult, reference: object, profile: Profile
) -> None:
    from harness.figures import draw

    complete = result.meta.trials.without_result == 0
    try:
        image = draw(task, table=result.table, reference=reference, profile=profile)  # type: ignore[arg-type]
    except (HarnessError, KeyError, ValueError, IndexError):
        if complete:
            raise
        log.warning("%s: no figure yet, its table is incomplete", task.id)
        return
    write_bytes(figure_path(workspace, task, profile), image)


def reference_of(library: Library, task: Task):  # type: ignore[no-untyped-def]
    """Return the paper's reference rows for a task, as a frame."""
    from harness.reference import load_reference

    word = task.id.split("/")[1]
    return load_reference(library.papers[task.paper].folder, word)


def pack_experiments(
    workspace: Workspace, task: Task, profile: Profile, store: RecordStore
) -> list[Path]:
    """Write the committed record files behind a task, upstream trials included."""
    trials: dict[str, list[Trial]] = {}
    for experiment in walk_experiments(task):
        for trial in grid_of(experiment, profile):
            _add_with_upstream(trial, trials)
    packed = [store.pack(name, profile, group) for name, group in sorted(trials.items())]
    return [path for path in packed if path is not None]


def _add_with_upstream(trial: Trial, trials: dict[str, list[Trial]]) -> None:
    group = trials.setdefault(trial.experiment.id, [])
    if all(trial.key != other.key for other in group):
        group.append(trial)
    for source in trial.upstream:
        _add_with_upstream(source, trials)
