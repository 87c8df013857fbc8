"""The verb that says what a machine has, and what tasks need that it has not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from harness.commands.common import (
    Asked,
    JsonOption,
    Selectors,
    asked_for,
    print_rows,
    say_no_trials,
)

NeededProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Scale of the trials; smoke by default.")
]


def doctor(
    selectors: Selectors = None, profile: NeededProfile = None, as_json: JsonOption = False
) -> None:
    """Say what this machine has, what is missing, and how to get it.

    With tasks or --profile also what trials without a result lack.
    """
    from harness.data import load as datasets
    from harness.measure.machine import machine_facts

    asked = asked_for(selectors, None, profile or "smoke")
    needs = _needs(asked) if selectors or profile else []
    facts = machine_facts().to_json()
    rows: list[dict[str, Any]] = [{"what": name, "found": value} for name, value in facts.items()]
    rows.append({"what": "writable", "found": os.access(asked.workspace.root, os.W_OK)})
    for name in datasets.catalogue():
        found = datasets.available(name) or datasets.missing_reason(name)
        rows.append({"what": f"data {name}", "found": found})
    rows += [{"what": f"task {b.id}", "found": b.reason} for b in asked.library.broken.values()]
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


def _needs(asked: Asked) -> list[dict[str, Any]]:
    """Return a row for each thing that an experiment lacks here, or one that it lacks nothing."""
    from harness.registry import experiments_of
    from harness.run.plan import left_out, make_plan, probe_limits
    from harness.store.store import RecordStore

    store = RecordStore(asked.workspace)
    store = store.with_committed(experiments_of(asked.tasks), asked.profile)
    plan = make_plan(asked.tasks, asked.profile, store, probe_limits())
    say_no_trials(plan)
    total = Counter(item.trial.experiment.id for item in plan.items.values())
    missing = Counter(
        (item.trial.experiment.id, why) for why, items in left_out(plan).items() for item in items
    )
    rows = []
    for name, num in total.items():
        trials = "1 trial" if num == 1 else f"{num} trials"
        told = [f"{why} ({n} of {trials})" for (of, why), n in missing.items() if of == name]
        told = told or [f"nothing is missing ({trials})"]
        rows += [{"what": f"experiment {name}", "found": found} for found in told]
    return rows
