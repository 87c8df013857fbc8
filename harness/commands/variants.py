"""Verbs for what may be overridden, and for what was: params, variants."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import (
    JsonOption,
    ProfileOption,
    SeedsOption,
    Selectors,
    SetOption,
    asked_for,
    print_rows,
    say,
    say_broken,
    shown,
)
from harness.errors import DataError, HarnessError
from harness.terminal import wrapped

if TYPE_CHECKING:  # what they import would slow every verb down
    from harness.declare.experiment import Experiment, RawParams
    from harness.declare.params import Field
    from harness.declare.profiles import Profile
    from harness.registry import Library
    from harness.store.variants import Variant

FEW = 6
"""How many values of a parameter are written out."""
TaskSelectors = Annotated[list[str], typer.Argument(help="Task ids, shell patterns or papers.")]


def params(
    selectors: TaskSelectors,
    profile: ProfileOption = "smoke",
    settings: SetOption = None,
    seeds: SeedsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what `--set` may change: parameters, their types, defaults, and values in the grid.

    With --set or --seeds the values are those of the grid that they would give.
    """
    from harness.store.trial import grid_of

    asked = asked_for(selectors, profile, settings, seeds)
    experiments = dict.fromkeys(experiment for task in asked.tasks for experiment in task.reads)
    rows = [
        row
        for each in experiments
        for row in _param_rows(
            each, [trial.params for trial in grid_of(each, asked.profile, asked.overrides)]
        )
    ]
    if as_json:
        print_rows(rows, as_json=True, columns=[])
        return
    typer.echo("\n".join(_param_lines(rows)))
    if seeds is None and any(row["role"] == "seed" for row in rows):
        say("--seeds N repeats the grid for the seeds 0 to N-1")


def _param_lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what fits 80 columns: experiments, below each a parameter, its meaning, its values."""
    experiment = None
    for row in rows:
        if row["experiment"] != experiment:
            if experiment is not None:
                yield ""
            experiment = row["experiment"]
            yield experiment
        default = "" if row["default"] is None else f", default {_value(row['default'])}"
        yield from wrapped(f"{row['name']} ({row['type']}{default}): {row['doc']}", 2, hang=4)
        if row["choices"]:
            yield from wrapped(f"one of: {_few(row['choices'], len(row['choices']))}", 6, hang=4)
        yield from wrapped(f"in the grid: {_few(row['values']) or 'none'}", 6, hang=4)


def _param_rows(experiment: Experiment, points: list[RawParams]) -> Iterator[dict[str, Any]]:
    fields: dict[str, Field] = {f.name: f for cls in experiment.classes for f in cls.fields()}
    for field in fields.values():
        values = [point.get(field.name, field.default) for point in points]
        yield {
            "experiment": experiment.id,
            "name": field.name,
            "type": field.type,
            "role": field.role,
            "default": field.default,
            "choices": list(field.choices),
            "values": list(dict.fromkeys(value for value in values if value is not None)),
            "doc": field.doc,
        }


def _few(values: list[Any], most: int = FEW) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(_value, values[:most])) + more


def _value(value: Any) -> str:
    """Return a value as `--set` takes it; a text that would look like none in quotes."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return json.dumps(value) if value == "" or isinstance(value, bool) else str(value)


def variants(
    selectors: Selectors = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what was run with --set or --seeds: overrides, profile, tasks, when, and how it went.

    With --set or --seeds only those that have these among theirs.
    """
    from harness.registry import load_registry
    from harness.store.variants import find_variants
    from harness.store.workspace import find_workspace

    # A variant may be of several papers.
    library = load_registry()
    asked = asked_for(selectors, "smoke", settings, seeds, library=library)
    wanted = {task.id for task in asked.tasks} if selectors else None
    rows = []
    for found in find_variants(find_workspace()):
        if isinstance(found, DataError):
            say_broken(str(found))
            continue
        if not asked.overrides.items() <= found.workspace.overrides.items():
            continue
        rows += [r for r in _variant_rows(library, found) if not wanted or wanted & {*r["tasks"]}]
    if not (rows or as_json):
        return say("no such variant was run: repro run TASK --set name=value makes one")
    columns = ["options", "profile", "tasks", "started_at", "done", "failed", "missing", "folder"]
    print_rows(rows, as_json=as_json, columns=columns)


def _variant_rows(library: Library, variant: Variant) -> Iterator[dict[str, Any]]:
    overrides = variant.workspace.overrides
    for profile, ran in variant.runs.items():
        counts, note = Counter[str](), ""
        try:
            counts = _count_states(library, variant, profile)
        except HarnessError as error:
            note = str(error)
            say(f"{overrides.name} at {profile}: {note}")
        yield {
            "overrides": dict(overrides),
            "options": overrides.options.strip(),
            "profile": profile,
            "tasks": ran.tasks,
            "started_at": ran.started_at,
            "done": counts["done"] + counts["diverged"] + counts["oom"],
            "failed": counts["failed"] + counts["rejected"],
            "missing": counts["missing"] + counts["skipped"],
            "folder": str(shown(variant.workspace.output(profile))),
            "note": note,
        }


def _count_states(library: Library, variant: Variant, profile: Profile) -> Counter[str]:
    """Count the trials behind a variant's tasks by how they stand now."""
    from harness.run.status import state_of
    from harness.store.store import RecordStore
    from harness.store.trial import trials_behind

    store = RecordStore(variant.workspace)
    tasks = [library.tasks[name] for name in variant.runs[profile].tasks if name in library.tasks]
    trials = trials_behind(tasks, profile, variant.workspace.overrides)
    return Counter(state_of(store.read(trial)) for trial in trials)
