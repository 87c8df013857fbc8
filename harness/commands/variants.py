"""Verbs for what may be overridden, and for what was: params, variants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

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
from harness.declare.experiment import Experiment, RawParams
from harness.declare.overrides import Overrides
from harness.declare.params import Field
from harness.errors import DataError
from harness.store.result import read_stored
from harness.store.trial import grid_of
from harness.terminal import wrapped

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
    """List the tables made with --set or --seeds: overrides, profile, when, and how it went.

    With --set or --seeds only those that have these among theirs.
    """
    asked = asked_for(selectors, "smoke", settings, seeds)
    wanted = {task.id for task in asked.tasks} if selectors else None
    rows = []
    for path in sorted(asked.workspace.outputs.glob("set-*/results/*/*.csv")):
        try:
            stored = read_stored(path)
        except DataError as error:
            say_broken(str(error))
            continue
        if stored is None:
            continue  # it was removed meanwhile
        _, meta = stored
        overrides = Overrides(meta.provenance.overrides)
        if asked.overrides.items() <= overrides.items() and (not wanted or meta.task in wanted):
            rows.append({
                "overrides": dict(overrides),
                "options": overrides.options.strip(),
                "task": meta.task,
                "profile": meta.profile,
                "started_at": meta.provenance.started_at,
                "done": meta.trials.with_result,
                "failed": meta.trials.failed,
                "missing": meta.trials.missing + meta.trials.skipped,
                "table": str(shown(path)),
            })  # fmt: skip
    if not (rows or as_json):
        return say("no such variant was run: repro run TASK --set name=value makes one")
    columns = ["options", "task", "profile", "started_at", "done", "failed", "missing", "table"]
    print_rows(rows, as_json=as_json, columns=columns)
