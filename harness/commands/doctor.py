"""The verb that says what a machine has, and what tasks need that it has not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import (
    CohortOption,
    JsonOption,
    SeedsOption,
    Selectors,
    SetOption,
    chosen,
    open_workspace,
    parse_profile,
    print_rows,
    say_no_trials,
)
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.registry import experiments_of, load_registry
from harness.store.workspace import Workspace

if TYPE_CHECKING:
    from harness.run.plan import MachineLimits, Plan

NeededProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Scale of the trials; smoke by default.")
]


def mount(app: typer.Typer) -> None:
    """Add `doctor` to the command line."""
    app.command("doctor")(doctor)


def doctor(
    selectors: Selectors = None,
    profile: NeededProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what this machine has, what is missing, and how to get it.

    With tasks, --profile, --set, --seeds or --cohort also what trials without a result lack.
    """
    from harness.data import load as datasets
    from harness.measure.machine import machine_facts

    library = load_registry()
    tasks = chosen(library, selectors)
    workspace, scale = open_workspace(tasks, settings, seeds), parse_profile(profile or "smoke")
    needs = list[dict[str, Any]]()
    if selectors or profile or workspace.overrides or cohort is not None:
        needs = _needs(workspace, tasks, scale, cohort)
    facts = machine_facts().to_json()
    rows: list[dict[str, Any]] = [{"what": name, "found": value} for name, value in facts.items()]
    rows.append({"what": "writable", "found": os.access(workspace.root, os.W_OK)})
    for name in datasets.catalogue():
        found = datasets.available(name) or datasets.missing_reason(name)
        rows.append({"what": f"data {name}", "found": found})
    rows += [{"what": f"task {b.id}", "found": b.reason} for b in library.broken.values()]
    rows += needs
    print_rows(
        rows if as_json else [_in_words(**row) for row in rows],
        as_json=as_json,
        columns=["what", "found"],
    )


def _in_words(what: str, found: Any) -> dict[str, str]:
    """Return a row as a person reads it."""
    if isinstance(found, bool):
        found = "yes" if found else "no"
    elif isinstance(found, Mapping):
        found = ", ".join(f"{name} {version}" for name, version in found.items())
    elif what.endswith("_bytes"):
        found = f"{found / 2**30:.1f} GiB"
    elif found == []:
        found = "none"
    return {"what": what, "found": found}


def _needs(
    workspace: Workspace, tasks: Sequence[Task], profile: Profile, cohort: str | None
) -> list[dict[str, Any]]:
    """Return a row for each thing that an experiment lacks here, or one that it lacks nothing.

    Raises as `make_plan` does.
    """
    from harness.run.plan import make_plan, probe_limits
    from harness.store.store import RecordStore

    limits = probe_limits()
    store = RecordStore(workspace).with_committed(experiments_of(tasks), profile)
    plan = make_plan(tasks, profile, store, limits, cohort=cohort)
    say_no_trials(plan)
    total = Counter(item.trial.experiment.id for item in plan.items.values())
    missing = Counter(_missing(plan, limits))
    rows = []
    for name, num in total.items():
        trials = "1 trial" if num == 1 else f"{num} trials"
        told = [f"{why} ({n} of {trials})" for (of, why), n in missing.items() if of == name]
        told = told or [f"nothing is missing ({trials})"]
        rows += [{"what": f"experiment {name}", "found": found} for found in told]
    return rows


def _missing(plan: Plan, limits: MachineLimits) -> Iterator[tuple[str, str]]:
    """Yield an experiment with each thing that is missing for one of its trials."""
    from harness.run.plan import Action, lacks
    from harness.store.trial import with_upstream

    for item in plan.with_action(Action.BLOCKED):
        behind = [plan.items.get(trial.key) for trial in with_upstream(item.trial)]
        blocked = (each.trial for each in behind if each and each.action is Action.BLOCKED)
        found = dict.fromkeys(why for trial in blocked for why in lacks(trial.needs, limits))
        yield from ((item.trial.experiment.id, why) for why in found or [item.reason])
