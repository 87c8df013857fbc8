"""What follows from records: table, verdicts, figure, and the packed file of each experiment."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from harness.declare.cohorts import FIRST
from harness.declare.overrides import Overrides
from harness.declare.profiles import PROFILES, Profile
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.errors import DataError, HarnessError, RunError
from harness.provenance.before import load_before
from harness.provenance.restated import load_restated
from harness.provenance.seals import Sealed
from harness.publish.check_row import CheckRow
from harness.publish.evidence import record_evidence
from harness.publish.judge import Judged, chances_of, judge
from harness.publish.labels import labels_of
from harness.registry import Library, walk_experiments
from harness.run.trial import Trial, all_trials, with_upstream
from harness.store.atomic import write_bytes
from harness.store.meta import ResultMeta
from harness.store.result import (
    TaskResult,
    build_result,
    csv_path,
    figure_path,
    load_result,
    read_meta,
    write_result,
)
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from harness.untrusted import is_there

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)


def refresh_task(
    workspace: Workspace,
    library: Library,
    task: Task,
    profile: Profile,
) -> list[CheckRow]:
    """Rebuild a task's packed records, CSV, JSON and figure; return its verdicts.

    Nothing is written where no trial has a result. A figure that cannot be drawn from an
    incomplete table is left out with a warning; the table and the verdicts stand.
    """
    store, reference = RecordStore(workspace), reference_of(library, task)
    if workspace.is_committed(profile):
        # Records first: killed in between, a result never rests on what is not there, and what
        # a view raises costs no record.
        pack_experiments(workspace, task, profile, store)
    result, rows = _build(store, library, task, profile, reference)
    if result is None:
        return rows
    write_result(workspace, task, result)
    if task.figure is not None:
        _draw(workspace, task, result, reference, profile)
    return rows


def _build(
    store: RecordStore,
    library: Library,
    task: Task,
    profile: Profile,
    reference: pd.DataFrame,
) -> tuple[TaskResult | None, list[CheckRow]]:
    """Return a task's result, None where no trial has one, and its verdicts."""
    workspace, overrides = store.workspace, store.workspace.overrides
    built = build_result(task, profile, store.read, overrides)
    if built is None:
        return None, judge(task, None, profile, reference, overrides=overrides).rows
    stored = stored_meta(workspace, task, profile)
    built, judged = judge_built(store, task, profile, built, reference, stored)
    result = built.knowing(
        judged={**first_judgements(judged), **built.meta.judged},
        verdicts=[row.to_json() for row in judged.rows],
        stands_in=stands_in(library, task, profile, overrides),
    )
    return result, judged.rows


def judge_built(
    store: RecordStore,
    task: Task,
    profile: Profile,
    built: TaskResult,
    reference: pd.DataFrame,
    stored: ResultMeta | None,
) -> tuple[TaskResult, Judged]:
    """Return a result that was built from a store with its chances, and its verdicts.

    stored: what was told of a former one, and so what its claims measured when first judged.
    """
    former = {} if stored is None else dict(stored.judged)
    built = built.knowing(judged=former, chances=chances_of(task, built, stored))
    root = store.workspace.root
    judged = judge(
        task,
        built,
        profile,
        reference,
        overrides=store.workspace.overrides,
        evidence=record_evidence(store, task, profile),
        before=load_before(root, task.paper),
        restated=load_restated(root),
    )
    return built, judged


def stored_meta(workspace: Workspace, task: Task, profile: Profile) -> ResultMeta | None:
    """Return the JSON of the stored result, which knows what each claim measured at first."""
    path = csv_path(workspace, task, profile).with_suffix(".json")
    if not is_there(path):
        return None
    try:
        return read_meta(path)
    except DataError as error:
        # What was judged first is in git: it must not be judged anew for want of it.
        if workspace.is_committed(profile):
            raise
        log.warning("%s: first judgements are made anew", error)
        return None


def first_judgements(judged: Judged) -> dict[str, Sealed]:
    """Return what was measured, less what was not decided: an error is no judgement."""
    return {
        name: side
        for name, side in judged.sides.items()
        if side.outcome is not None and side.outcome.verdict != Word.ERROR
    }


def _draw(
    workspace: Workspace,
    task: Task,
    result: TaskResult,
    reference: pd.DataFrame,
    profile: Profile,
    cohort: str = FIRST,
) -> None:
    from harness.publish.figures import draw

    complete = result.counts(cohort).without_result == 0
    try:
        image = draw(
            task,
            table=result.table if cohort == FIRST else result.tables[cohort],
            reference=reference,
            profile=profile,
            stands_in=result.meta.stands_in,
            aside=workspace.overrides.label if cohort == FIRST else cohort,
        )
    except (HarnessError, KeyError, ValueError, IndexError):
        if complete:
            raise
        log.warning("%s: no figure yet, its table is incomplete", task.id)
        return
    write_bytes(figure_path(workspace, task, profile, cohort), image)


def draw_stored(
    workspace: Workspace, library: Library, task: Task, cohort: str | None = None
) -> list[Path]:
    """Draw a task's figure again for every profile that has a stored table, of a cohort if any.

    The figure that is committed is that of the first cohort, or of the one that was run.
    """
    paths = []
    for profile in PROFILES if task.figure is not None else ():
        result = load_result(workspace, task, profile)
        if result is not None and (cohort is None or cohort in result.tables):
            here = stands_in(library, task, profile, workspace.overrides)
            result, which = result.knowing(stands_in=here), cohort or FIRST
            _draw(workspace, task, result, reference_of(library, task), profile, which)
            paths.append(figure_path(workspace, task, profile, which))
    return paths


def stands_in(
    library: Library, task: Task, profile: Profile, overrides: Overrides
) -> dict[str, str]:
    """Return by a name of the paper what a task runs in its place."""
    return dict(labels_of(task, profile, library.titles[task.id], overrides).here)


def reference_of(library: Library, task: Task) -> pd.DataFrame:
    """Return the paper's reference rows for a task, as a frame."""
    from harness.declare.reference import load_reference

    word = task.id.split("/")[1]
    return load_reference(library.papers[task.paper].folder, word)


def pack_experiments(
    workspace: Workspace, task: Task, profile: Profile, store: RecordStore
) -> list[Path]:
    """Write the committed record files behind a task, upstream trials included."""
    trials: dict[str, dict[str, Trial]] = {}
    for experiment in walk_experiments(task):
        for trial in all_trials(experiment, profile):
            for each in with_upstream(trial):
                trials.setdefault(each.experiment.id, {})[each.key] = each
    packed = [store.pack(name, profile, group.values()) for name, group in sorted(trials.items())]
    return [path for path in packed if path is not None]


class Refresher:
    """Rebuilds a task's table, verdicts and figure, and keeps what came of it.

    What a view or a figure raises must not cost the trials that are still to run.
    """

    def __init__(self, workspace: Workspace, library: Library, profile: Profile) -> None:
        self.workspace, self.library, self.profile = workspace, library, profile
        self.checks: dict[str, list[CheckRow]] = {}
        self.broken: dict[str, str] = {}

    def __call__(self, task: Task) -> None:
        where = (self.workspace, self.library, task, self.profile)
        folder = self.workspace.runs / "locks"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Where two runs go at once, the one that writes last must have read last.
            with FileLock(folder / "refresh.lock"):
                self.checks[task.id] = refresh_task(*where)
        except RunError:
            raise
        except OSError as error:
            raise RunError(f"cannot write below {folder} ({error.strerror})") from error
        except Exception as error:
            log.debug("%s", task.id, exc_info=True)
            self.checks[task.id] = []
            self.broken[task.id] = f"{_place(error)}{type(error).__name__}: {error}"

    def rest(self, tasks: Sequence[Task]) -> None:
        """Refresh the tasks that were not refreshed yet."""
        for task in tasks:
            if task.id not in self.checks:
                self(task)


def _place(error: Exception) -> str:
    """Return the file and line of a paper's code that raised an error, where there is one."""
    frames = traceback.extract_tb(error.__traceback__)
    harness = str(Path(__file__).resolve().parents[1])
    # What the harness and libraries called: a view, a quantity, a figure.
    own = [f for f in frames if "site-packages" not in f.filename and harness not in f.filename]
    return f"{own[-1].filename} line {own[-1].lineno}: " if own else ""
