"""`repro gpu`: what a card that turns up for a few minutes is used for."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, replace
from functools import partial
from math import fsum
from pathlib import Path
from typing import Annotated

import typer

from harness.atomic import write_text
from harness.commands.common import (
    Asked,
    JobsOption,
    Selectors,
    asked_for,
    command_words,
    say,
    shown,
)
from harness.commands.run import carry_out, open_store, parse_means, stop_cleanly_on_signals
from harness.declare.profiles import Profile
from harness.errors import EnvError
from harness.run.plan import Action, Plan, PlannedTrial, make_plan, probe_limits
from harness.run.status import trial_states
from harness.store.archive import export_records
from harness.store.store import RecordStore
from harness.store.trial import with_upstream

PROFILE: Profile = "gpu"
RECORDS, LEFT = "records.tar.gz", "left.json"
"""What an export holds: results with their artifacts, and the trials that have none, with why."""

BudgetOption = Annotated[str, typer.Option("--time-budget", help="Stop cleanly after 90s, 25m.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for what was found.")]


def gpu(
    selectors: Selectors = None,
    time_budget: BudgetOption = "8m",
    out: OutOption = Path("runs/found"),
    jobs: JobsOption = 0,
) -> None:
    """Run all that is due at `gpu`, and export what was found, however it ends.

    Kernels come first, in the order of their paper.toml, then experiments by the time they take
    with all they still need of others, shortest first. Started again it goes on.
    OUT/records.tar.gz is for `repro records import`; OUT/left.json lists what has no result, with
    the error where there is one.
    """
    limits = probe_limits()
    if not limits.has_cuda:
        raise EnvError("nvidia-smi shows no card here, so nothing was run: repro plan -p gpu")
    means = parse_means("local", jobs, time_budget)
    asked = asked_for(selectors, PROFILE)
    stop_cleanly_on_signals(None)
    store = open_store(asked)
    listed = [task for task in asked.library.tasks.values() if task in asked.tasks]
    plan = in_order(make_plan(listed, PROFILE, store, limits))
    # Now, since a folder that cannot be written is better told before the card's time is spent.
    _write_left(asked, out.resolve())
    at_end = partial(_export, asked, out.resolve())
    carry_out(plan, store, asked.library, means, command_words(selectors, asked), at_end=at_end)


def in_order(plan: Plan) -> Plan:
    """Return a plan in the order in which a short time on a card is used.

    Kernels come first, in their own order: what says that they are right comes before what is
    built on them. Then come the experiments that take least time. Each has before it what it still
    needs of others, whose time counts as its own: the shorter a budget, the more of what it starts
    is finished.
    """
    seconds, behind = defaultdict[str, float](float), dict[str, set[str]]()
    for item in plan.with_action(Action.RUN):
        name = item.trial.experiment.id
        seconds[name] += item.estimate.seconds
        behind.setdefault(name, set()).update(t.experiment.id for t in with_upstream(item.trial))
    read = [each.id for task in plan.tasks if task.kind == "kernel" for each in task.reads]
    kernels = {name for each in read for name in behind.get(each, ())}

    def place_of(item: PlannedTrial) -> tuple[bool, float]:
        name = item.trial.experiment.id
        if name in kernels:
            return False, 0.0
        return True, fsum(seconds[each] for each in behind.get(name, ()))

    items = sorted(plan.items.values(), key=place_of)
    return replace(plan, items={item.trial.key: item for item in items})


def _export(asked: Asked, out: Path) -> None:
    """Write all results at `gpu` to a folder, and why the other trials have none."""
    num_left, num_trials = _write_left(asked, out)
    if num_left == num_trials:
        say(f"no result yet: {shown(out / LEFT)} says of each trial how it stands")
        return
    file = out / RECORDS
    summary = export_records(asked.workspace, asked.tasks, PROFILE, file)
    say(f"wrote {shown(file)}: {summary.num_records} records, {num_left} trials have none")
    if summary.left_out:
        say(f"left out (too large, missing or altered): {', '.join(summary.left_out)}")
    say(f"at home: repro records import {RECORDS}; repro run --profile {PROFILE} makes the tables")


def _write_left(asked: Asked, out: Path) -> tuple[int, int]:
    """List the trials without a result; return how many they are, and how many there are."""
    states = trial_states(asked.tasks, PROFILE, RecordStore(asked.workspace))
    left = [asdict(state) for state in states if not state.has_result]
    write_text(out / LEFT, json.dumps(left, indent=1) + "\n")
    return len(left), len(states)
