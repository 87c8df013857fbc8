"""What every registered task must keep, read from one shared smoke run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from matplotlib.text import Text

from harness.declare.experiment import Experiment
from harness.declare.papers import deviations_of, load_deviations, load_paper
from harness.declare.profiles import PROFILES, Profile
from harness.declare.reference import load_reference, published
from harness.declare.task import Task
from harness.declare.verdict import Word, evaluate
from harness.publish.check_row import CheckRow
from harness.publish.figures import FigureContext, draw
from harness.publish.verdicts import judge_stored
from harness.registry import load_registry
from harness.run.dry_run import dry_runs
from harness.store.result import TaskResult, csv_path, figure_path, load_result
from harness.store.store import RecordStore
from harness.store.trial import grid_of
from harness.store.workspace import Workspace
from tests import layouts
from tests.checkout import ROOT, runs_at_smoke, some_figures
from tests.conftest import Smoke

LIBRARY = load_registry()
TASKS = [pytest.param(task, id=name) for name, task in sorted(LIBRARY.tasks.items())]
AT_SMOKE = [p for p in TASKS if runs_at_smoke(p.values[0])]  # type: ignore[arg-type]
PAPERS = sorted({task.paper for task in LIBRARY.tasks.values()})
EXPERIMENTS = [pytest.param(e, id=name) for name, e in sorted(LIBRARY.experiments.items())]
CI_PROFILES: tuple[Profile, ...] = ("smoke", "cpu", "gpu", "paper")
THEIRS = re.compile("paper|arXiv|as read|early version|third party|derived|authors")
BEYOND_CPU: tuple[Profile, ...] = ("gpu", "paper")


def word_of(task: Task) -> str:
    return task.id.split("/")[1]


def folder_of(task: Task) -> Path:
    return LIBRARY.papers[task.paper].folder


@cache
def result_of(smoke: Smoke, task: Task) -> TaskResult:
    assert smoke.done.returncode == 0, smoke.done.stderr
    result = load_result(smoke.workspace, task, "smoke")
    assert result is not None, f"{task.id} has no smoke result"
    return result


@cache
def check_rows(smoke: Smoke, task: Task) -> list[CheckRow]:
    return judge_stored(LIBRARY, smoke.workspace, task, "smoke")


def test_nothing_is_broken() -> None:
    assert LIBRARY.broken == {}


def test_smoke_run_succeeds_and_writes_only_to_its_working_copy(smoke: Smoke) -> None:
    assert smoke.done.returncode == 0, smoke.done.stderr
    assert smoke.done.stdout == ""
    assert [path.name for path in smoke.workspace.root.iterdir()] == ["runs"]


def test_keys_are_those_of_another_process(smoke: Smoke) -> None:
    """The smoke run hashes text by another seed."""
    store = RecordStore(smoke.workspace)
    trials = [t for e in LIBRARY.experiments.values() for t in grid_of(e, "smoke")]
    assert trials
    assert [trial.name for trial in trials if store.result(trial) is None] == []


@pytest.mark.parametrize("task", AT_SMOKE)
def test_table_has_its_columns_and_every_trial(smoke: Smoke, task: Task) -> None:
    result = result_of(smoke, task)
    assert list(result.table.columns) == task.table.names
    assert len(result.table) == result.meta.num_rows > 0
    assert result.meta.trials.without_result == 0
    assert result.meta.not_run == []


@pytest.mark.parametrize("task", AT_SMOKE)
def test_claims_are_decided_without_error_and_registered(smoke: Smoke, task: Task) -> None:
    asked = result_of(smoke, task).meta.registered
    assert len(set(asked.values())) == len(task.claims), "two claims ask the same"
    rows = check_rows(smoke, task)
    assert [row.claim for row in rows] == [claim.id for claim in task.claims]
    for row in rows:
        assert row.verdict != Word.ERROR, f"{row.claim}: {row.reason}"
        assert row.registered, row.claim


@pytest.mark.parametrize("task", AT_SMOKE)
def test_exact_claims_hold_where_smoke_decides_them(smoke: Smoke, task: Task) -> None:
    result_of(smoke, task)
    for row in check_rows(smoke, task):
        if row.grade == "exact" and not row.reason.startswith("scale:"):
            assert row.verdict == Word.HOLDS, f"{row.claim}: {row.reason} {row.measured}"


@pytest.mark.parametrize("task", AT_SMOKE)
def test_quantities_work_on_every_table_of_this_shape(smoke: Smoke, task: Task) -> None:
    """A claim that smoke cannot decide still must not raise on smoke's table."""
    table = result_of(smoke, task).table
    for claim in task.claims:
        scope = replace(claim.scope, profiles=PROFILES, threshold_from="theory", deviation="")
        everywhere = replace(claim, scope=scope)
        verdict = evaluate(everywhere, table, seed=task.table.seed, profile="smoke")
        assert verdict.word != Word.ERROR, f"{claim.id}: {verdict.reason}"


def needs_a_gpu(task: Task, profiles: Sequence[Profile]) -> bool:
    """Say whether all that a task's profiles run needs a GPU, which CI has not."""
    points = [(e, p) for e in task.reads for profile in profiles for p in e.params_of(profile)]
    return all(experiment.needs_of(point).device == "cuda" for experiment, point in points)


@pytest.mark.parametrize("task", TASKS)
def test_ci_decides_every_exact_claim(task: Task) -> None:
    committed = Workspace(ROOT)
    for claim in task.claims:
        if claim.scope.grade != "exact" or needs_a_gpu(task, claim.scope.profiles):
            continue
        ran = [p for p in CI_PROFILES if p == "smoke" or csv_path(committed, task, p).exists()]
        assert set(ran) & set(claim.scope.profiles), f"{claim.id}: decided in none of {ran}"


@pytest.mark.parametrize("task", TASKS)
def test_what_calls_itself_ours_is_counted_as_ours(task: Task) -> None:
    for claim in task.claims:
        says = claim.where.startswith("ours") or claim.statement.startswith("Ours")
        is_asked_by_us = claim.scope.own_question or (says and claim.scope.grade == "exact")
        assert is_asked_by_us == says, claim.id


@pytest.mark.parametrize("paper", PAPERS)
def test_each_paper_has_an_exact_claim_that_smoke_decides(paper: str) -> None:
    tasks = [task for task in LIBRARY.tasks.values() if task.paper == paper]
    scopes = [claim.scope for task in tasks for claim in task.claims]
    assert any(scope.grade == "exact" and "smoke" in scope.profiles for scope in scopes)


@pytest.mark.parametrize("task", some_figures(AT_SMOKE))
def test_figure_redraws_to_the_same_bytes(smoke: Smoke, task: Task) -> None:
    """Those of some tasks, which the commit draws: each takes as long as in the smoke run."""
    result = result_of(smoke, task)
    reference = load_reference(folder_of(task), word_of(task))
    stored = figure_path(smoke.workspace, task, "smoke").read_bytes()
    here = result.meta.stands_in
    image = draw(task, table=result.table, reference=reference, profile="smoke", stands_in=here)
    assert image == stored


@pytest.mark.parametrize("task", some_figures(TASKS))
def test_ours_alone_shows_nothing_of_the_paper(task: Task) -> None:
    result = load_result(Workspace(ROOT), task, "cpu")
    reference = load_reference(folder_of(task), word_of(task))
    if result is None or reference.empty:
        return
    assert task.draw is not None
    # As it is before it is laid out, which takes longest.
    figure = task.draw(
        FigureContext(table=result.table, reference=reference.iloc[:0], profile="cpu", width_in=5.5)
    )
    words = [text.get_text() for text in figure.findobj(Text)]
    assert [text for text in words if THEIRS.search(text)] == []
    assert all(ax.has_data() or ax.texts for ax in figure.axes)


@pytest.mark.parametrize("task", [p for p in TASKS if p.values[0].figure is not None])  # type: ignore[attr-defined]
def test_figure_is_told_in_words(task: Task) -> None:
    assert len(task.alt.split()) >= 8, task.alt
    assert task.caption
    assert task.alt != task.caption


@pytest.mark.parametrize("task", TASKS)
def test_paper_toml_declares_the_task_with_its_file(task: Task) -> None:
    item = next(each for each in load_paper(folder_of(task)).items if each.id == word_of(task))
    assert item.file == LIBRARY.files[task.id]
    assert (folder_of(task) / item.file).is_file()


@pytest.mark.parametrize("paper", PAPERS)
def test_paper_toml_promises_no_task_that_is_not_there(paper: str) -> None:
    items = load_paper(LIBRARY.papers[paper].folder).items
    promised = {f"{paper}/{item.id}" for item in items if item.file}
    assert promised == {name for name in LIBRARY.tasks if name.split("/")[0] == paper}


@pytest.mark.parametrize("task", TASKS)
def test_reference_rows_and_paper_values_can_be_read(task: Task) -> None:
    rows = published(load_reference(folder_of(task), word_of(task)))
    for claim in task.claims:
        if claim.criterion.paper_value is not None:
            value = None if rows.empty else claim.criterion.paper_value(rows)
            assert value is None or math.isfinite(value), claim.id


@pytest.mark.parametrize("paper", PAPERS)
def test_deviations_name_items_of_the_paper(paper: str) -> None:
    folder = LIBRARY.papers[paper].folder
    words = {item.id for item in load_paper(folder).items} | {"*"}
    deviations = load_deviations(folder)
    assert deviations
    for deviation in deviations:
        assert set(deviation.tasks) <= words, deviation.id


@pytest.mark.parametrize("task", TASKS)
def test_empirical_claims_off_the_paper_s_scale_have_deviations(task: Task) -> None:
    entries = load_deviations(folder_of(task))
    for profile in ("cpu", "gpu"):
        scopes = [claim.scope for claim in task.claims]
        if any(s.grade == "empirical" and profile in s.profiles for s in scopes):
            assert deviations_of(entries, word=word_of(task), profile=profile), profile


@pytest.mark.parametrize("task", TASKS)
def test_a_threshold_of_ours_names_a_deviation_that_concerns_its_task(task: Task) -> None:
    entries = {entry.id: entry for entry in load_deviations(folder_of(task))}
    for claim in task.claims:
        if claim.scope.deviation:
            tasks = entries[claim.scope.deviation].tasks
            assert "*" in tasks or word_of(task) in tasks, f"{claim.id}: {claim.scope.deviation}"


@pytest.mark.parametrize("task", TASKS)
def test_what_is_named_is_there(task: Task) -> None:
    """Functions are named as text, so that declarations stay light."""
    named = [task.draw, *(experiment.code for experiment in task.reads)]
    named += [e.function(e.dry_run) for e in task.reads if e.dry_run is not None]
    named += [e.function(e.together.run) for e in task.reads if e.together is not None]
    assert all(callable(function.load()) for function in named if function is not None)


def committed_with_layouts() -> list[Task]:
    """Return the tasks that have a layout and a committed table at `cpu`."""
    tasks = LIBRARY.tasks.values()
    return [t for t in tasks if t.layouts and csv_path(Workspace(ROOT), t, "cpu").exists()]


def test_every_paper_has_layouts_to_look_at() -> None:
    assert {task.paper for task in committed_with_layouts()} == set(PAPERS)


@pytest.mark.parametrize("task", committed_with_layouts(), ids=lambda task: task.id)
def test_layouts_find_rows_for_every_line(task: Task) -> None:
    """On the largest committed table, each cell at most one row per seed."""
    found = load_result(Workspace(ROOT), task, "cpu")
    assert found is not None
    for layout in task.layouts:
        filled = [
            (row.head, column.head, rows)
            for row, column in layout.places()
            if len(rows := layouts.found(layout, found.table, row, column))
        ]
        for head, other, rows in filled:
            seeds = rows[task.table.seed].nunique() if task.table.seed else 1
            assert len(rows) == seeds, f"{layout.title} {head}, {other}: more than one row"
        assert filled, layout.title


@pytest.mark.parametrize("task", TASKS)
def test_committed_results_have_the_columns_that_are_declared(task: Task) -> None:
    """Their words too: `repro run TASK --profile cpu` writes them again, with no trial to run."""
    found = load_result(Workspace(ROOT), task, "cpu")
    if found is not None:
        assert found.meta.columns == [asdict(column) for column in task.table.columns]


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_what_trains_at_a_larger_scale_has_a_dry_run(experiment: Experiment) -> None:
    points = [p for profile in BEYOND_CPU for p in experiment.params_of(profile)]
    if any("steps" in point and "batch_size" in point for point in points):
        assert experiment.dry_run is not None


LARGEST: list[tuple[Experiment, Profile]] = [
    (experiment, profiles[-1])
    for experiment in LIBRARY.experiments.values()
    if experiment.dry_run is not None
    # A pilot, say, has no grid there.
    and (profiles := [profile for profile in BEYOND_CPU if experiment.params_of(profile)])
]


MOST_POINTS = 6


@pytest.mark.parametrize(
    ("experiment", "profile"), LARGEST, ids=[f"{e.id}-{profile}" for e, profile in LARGEST]
)
def test_dry_run_counts_the_parameters_of_the_formula(
    experiment: Experiment, profile: Profile
) -> None:
    # What it starts from is an experiment of its own in this test. A long grid is tried at a few of
    # its points.
    grid = [*experiment.grid(profile)]
    some = Random(0).sample(grid, min(len(grid), MOST_POINTS))
    alone = replace(experiment, uses=(), grid=lambda profile: some)
    task = replace(LIBRARY.tasks_of(experiment)[0], reads=(alone,))
    rows = [r for r in dry_runs([task], profile) if r["experiment"] == experiment.id]
    assert rows
    assert sum(row["trials"] for row in rows) > 0
    for row in rows:
        assert row["parameters"] == row["expected"] > 0
        assert row["memory_GiB"] > 0
        assert row["hours_a_trial"] > 0
