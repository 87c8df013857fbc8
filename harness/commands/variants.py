"""Verbs for what may be overridden, and for what was: params, variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import (
    JsonOption,
    ProfileOption,
    Selectors,
    parse_profile,
    print_rows,
    say,
    say_broken,
    shown,
)
from harness.declare.experiment import Experiment
from harness.declare.params import Field
from harness.declare.profiles import Profile
from harness.errors import DataError, HarnessError
from harness.registry import Library, load_registry
from harness.store.workspace import find_workspace

if TYPE_CHECKING:  # what it imports would slow every verb down
    from harness.store.variants import Variant

FEW = 6
"""How many values of a parameter are written out."""
TaskSelectors = Annotated[list[str], typer.Argument(help="Task ids, shell patterns or papers.")]


def mount(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    app.command("params")(params)
    app.command("variants")(variants)


def params(
    selectors: TaskSelectors, profile: ProfileOption = "smoke", as_json: JsonOption = False
) -> None:
    """Show what `--set` may change: parameters, their types, defaults, and values in the grid."""
    library, scale = load_registry(), parse_profile(profile)
    tasks = library.select(selectors)
    experiments = dict.fromkeys(experiment for task in tasks for experiment in task.reads)
    rows = [row for experiment in experiments for row in _param_rows(experiment, scale)]
    if as_json:
        print_rows(rows, as_json=True, columns=[])
        return
    columns = ["experiment"] if len(experiments) > 1 else []
    columns += ["name", "type", "default", "values", "doc"]
    told = [row | {"values": _few(row["choices"] or row["values"])} for row in rows]
    print_rows(told, as_json=False, columns=columns)
    if any(row["role"] == "seed" for row in rows):
        say("--seeds N repeats the grid for the seeds 0 to N-1")


def _param_rows(experiment: Experiment, profile: Profile) -> Iterator[dict[str, Any]]:
    points = experiment.params_of(profile)
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


def _few(values: list[Any]) -> str:
    more = f" and {len(values) - FEW} more" if len(values) > FEW else ""
    texts = (f"{value:.6g}" if isinstance(value, float) else str(value) for value in values[:FEW])
    return ", ".join(texts) + more


def variants(selectors: Selectors = None, as_json: JsonOption = False) -> None:
    """List what was run with --set or --seeds: overrides, profile, tasks, when, and how it went."""
    from harness.store.variants import find_variants

    library = load_registry()
    wanted = {task.id for task in library.select(selectors or [])} if selectors else None
    rows = []
    for found in find_variants(find_workspace()):
        if isinstance(found, DataError):
            say_broken(str(found))
            continue
        rows += [r for r in _variant_rows(library, found) if not wanted or wanted & {*r["tasks"]}]
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
    from harness.run.trial import trials_behind
    from harness.store.store import RecordStore

    store = RecordStore(variant.workspace)
    tasks = [library.tasks[name] for name in variant.runs[profile].tasks if name in library.tasks]
    trials = trials_behind(tasks, profile, variant.workspace.overrides)
    return Counter(state_of(store.read(trial)) for trial in trials)
