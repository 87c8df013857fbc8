"""Verbs that only read: list, plan, status. None of them imports torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.common import (
    CohortOption,
    JsonOption,
    KindOption,
    ProfileOption,
    SeedsOption,
    Selectors,
    SetOption,
    chosen,
    open_workspace,
    parse_profile,
    print_rows,
    say,
    say_no_trials,
    time_told,
)
from harness.declare.profiles import PROFILES
from harness.declare.task import Task
from harness.registry import experiments_of, load_registry

if TYPE_CHECKING:
    from harness.run.plan import MissingData, Plan, PlannedTrial

ListedProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Only what has trials at this scale.")
]
MOST_NAMED = 20
"""Experiments of a sentence; of more, their number is told."""


def mount(app: typer.Typer) -> None:
    """Add the reading verbs to the command line."""
    app.command("list")(list_tasks)
    app.command("plan")(show_plan)
    app.command("status")(show_status)


def list_tasks(
    selectors: Selectors = None,
    kind: KindOption = None,
    profile: ListedProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    as_json: JsonOption = False,
) -> None:
    """List tasks: title, file, checks, claims, halves of those, our questions; broken ones, why.

    Titles are the paper's; repro show says what stands in. With --profile, --set, --seeds or
    --cohort only those that have such trials.
    """
    library = load_registry()
    tasks = chosen(library, selectors, kind)
    if profile or settings or seeds is not None or cohort is not None:
        tasks = _with_trials(tasks, profile, settings, seeds, cohort)
    rows: list[dict[str, Any]] = [
        {
            "id": task.id,
            "paper": task.paper,
            "kind": task.kind,
            "number": task.number,
            "title": library.titles[task.id],
            "file": library.files[task.id],
            "experiments": [experiment.id for experiment in task.reads],
            "claims": [claim.id for claim in task.claims],
        }
        for task in tasks
    ]
    shown = [row | _counts(library.tasks[row["id"]]) for row in rows]
    columns = ["id", "title", "file", "checks", "claims", "halves", "ours"]
    print_rows(rows if as_json else shown, as_json=as_json, columns=columns)


def _with_trials(
    tasks: Sequence[Task],
    profile: str | None,
    settings: Sequence[str] | None,
    seeds: int | None,
    cohort: str | None,
) -> list[Task]:
    from harness.store.trial import tasks_with

    profiles = [parse_profile(profile)] if profile else PROFILES
    return tasks_with(tasks, profiles, open_workspace(tasks, settings, seeds).overrides, cohort)


def _counts(task: Task) -> dict[str, int]:
    """Count a task's checks, the paper's claims, halves of those and our own questions."""
    checks = sum(claim.scope.grade == "exact" for claim in task.claims)
    own = sum(claim.scope.own_question for claim in task.claims)
    halves = sum(bool(claim.scope.whole) for claim in task.claims)
    claims = len(task.claims) - checks - own - halves
    return {"checks": checks, "claims": claims, "halves": halves, "ours": own}


def show_plan(
    selectors: Selectors = None,
    kind: KindOption = None,
    profile: ProfileOption = "smoke",
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    stale: Annotated[bool, typer.Option("--stale", help="Also re-run changed code.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the trials to do and to reuse, why, time and memory, and how to get data not here."""
    from harness.run.plan import make_plan, missing_data, probe_limits
    from harness.store.store import RecordStore

    library = load_registry()
    scale = parse_profile(profile)
    tasks = chosen(library, selectors, kind)
    opened = RecordStore(open_workspace(tasks, settings, seeds))
    store = opened.with_committed(experiments_of(tasks), scale)
    plan = make_plan(tasks, scale, store, probe_limits(), cohort=cohort, rerun_stale=stale)
    missing = missing_data(plan)
    if as_json:
        ways = {data.name: data.supply for data in missing}
        rows = [_plan_row(item, ways) for item in plan.items.values()]
        print_rows(rows, as_json=True, columns=[])
        return
    say_no_trials(plan)
    columns = ["experiment", "action", "trials", "core_s", "memory_MiB", "reason"]
    print_rows(_plan_groups(plan, missing), as_json=False, columns=columns)
    if missing:
        _print_missing(plan, missing)
    _say_time(plan)


def _say_time(plan: Plan) -> None:
    """Say how long trials take, and the whole run of them."""
    from harness.measure.machine import num_cores
    from harness.run.plan import Action

    blocked_s = plan.seconds_of(Action.BLOCKED)
    more = f", and {time_told(blocked_s, 'core-')} of what is blocked here" if blocked_s else ""
    num = max(1, min(num_cores(), plan.num_to_run))
    say(f"about {time_told(plan.seconds, 'core-')} of trials to run{more}")
    whole = f"{time_told(plan.core_s(num), 'core-')}, {time_told(plan.wall_s(num))} here"
    say(f"with starts, tables and figures: {whole}")


def _print_missing(plan: Plan, missing: list[MissingData]) -> None:
    """Print how each data set is to be had, in how many experiments, and what runs without."""
    rows = [
        {
            "data_not_here": data.name,
            "how_to_get_it": data.supply,
            "experiments": len(data.experiments),
        }
        for data in missing
    ]
    typer.echo()
    print_rows(rows, as_json=False, columns=list(rows[0]))
    blocked = {name for data in missing for name in data.experiments}
    every = dict.fromkeys(item.trial.experiment.id for item in plan.items.values())
    without = [name for name in every if name not in blocked]
    named = f": {', '.join(without)}" if 0 < len(without) <= MOST_NAMED else ""
    run = "experiment runs" if len(every) == 1 else "experiments run"
    say(
        f"{len(without)} of {len(every)} {run} without data that is not here{named};"
        " with --profile smoke all do"
    )


def _plan_row(item: PlannedTrial, ways: dict[str, str]) -> dict[str, Any]:
    """Return a trial as JSON; ways: to get each data set that is not here."""
    from harness.store.trial import with_upstream

    read = {name for trial in with_upstream(item.trial) for name in trial.needs.data}
    return {
        "trial": item.trial.name,
        "key": item.trial.key,
        "action": item.action,
        "reason": item.reason,
        "seconds": item.estimate.seconds,
        "memory_bytes": item.estimate.memory_bytes,
        "missing_data": {name: ways[name] for name in sorted(read) if name in ways},
    }


def _in_short(reason: str, missing: list[MissingData]) -> str:
    """Return why a trial is blocked without the ways to get its data, which stand below."""
    heads = (f"data set {data.name} is missing" for data in missing)
    return next((f"{head}: see below" for head in heads if reason.startswith(head)), reason)


def _plan_groups(plan: Plan, missing: list[MissingData]) -> list[dict[str, Any]]:
    """Return one row per experiment, action and reason, with what its trials take together."""
    groups: dict[tuple[str, str, str], list[PlannedTrial]] = {}
    for item in plan.items.values():
        group = (item.trial.experiment.id, str(item.action), _in_short(item.reason, missing))
        groups.setdefault(group, []).append(item)
    return [
        {
            "experiment": experiment,
            "action": action,
            "trials": len(items),
            "core_s": _seconds(sum(i.estimate.seconds for i in items if action != "reuse")),
            "memory_MiB": round(max(i.estimate.memory_bytes for i in items) / 2**20),
            "reason": reason,
        }
        for (experiment, action, reason), items in groups.items()
    ]


def _seconds(seconds: float) -> float:
    """Return seconds as a reader has them: many without a fraction, and without an exponent."""
    return round(seconds) if seconds >= 1000 else seconds


def show_status(
    selectors: Selectors = None,
    kind: KindOption = None,
    profile: ProfileOption = "smoke",
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only what has no result.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show each experiment's trials by status, failures with their error, and stale records."""
    from harness.run.status import STATES, trial_states
    from harness.store.store import RecordStore

    library = load_registry()
    tasks = chosen(library, selectors, kind)
    store = RecordStore(open_workspace(tasks, settings, seeds))
    states = trial_states(tasks, parse_profile(profile), store, cohort)
    if failed:
        states = [state for state in states if not state.has_result]
    if as_json or failed:
        rows = [state.to_json() for state in states]
        print_rows(rows, as_json=as_json, columns=["trial", "state", "note"])
        return
    counts: dict[str, Counter[str]] = {}
    for state in states:
        counter = counts.setdefault(state.experiment, Counter())
        counter[state.state] += 1
        counter["stale"] += state.stale
    shown = [*STATES, "stale"]
    print_rows(
        [{"experiment": name, **{s: c[s] for s in shown}} for name, c in counts.items()],
        as_json=False,
        columns=["experiment", *shown],
    )
