"""Verbs that only read: list, plan, status, show, diff. None of them imports torch."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import asdict
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from harness.commands.common import (
    JsonOption,
    ProfileOption,
    SeedsOption,
    Selectors,
    SetOption,
    StoredProfile,
    asked_for,
    command_words,
    headed,
    print_rows,
    say,
    say_all_broken,
    say_no_trials,
    time_told,
)
from harness.errors import SpecError, UsageError, one_of
from harness.outgoing import tidy
from harness.terminal import WIDTH, wrapped

if TYPE_CHECKING:
    from harness.run.plan import Plan, PlannedTrial

KindOption = Annotated[
    str | None, typer.Option("--kind", help="Only table, figure, ablation, kernel or theory.")
]
ListedProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Only what has trials at this scale.")
]
StaleOption = Annotated[bool, typer.Option("--stale", help="Also re-run changed code.")]
ShardsOption = Annotated[
    int, typer.Option("--shards", help="What each of so many shards has to do.")
]
SlurmOption = Annotated[
    bool, typer.Option("--slurm", help="Print a script for sbatch that runs the --shards.")
]
FailedOption = Annotated[bool, typer.Option("--failed", help="Only what has no result.")]
ShowArgument = Annotated[
    str, typer.Argument(help="A task's id, or task:claim as repro check prints it.")
]
Before = Annotated[
    str, typer.Argument(help="A commit, or a folder with results, as that of a variant.")
]
After = Annotated[str | None, typer.Argument(help="The same; the working tree by default.")]
ExitOption = Annotated[bool, typer.Option("--exit-code", help="Exit 1 where anything differs.")]


def list_tasks(
    selectors: Selectors = None,
    kind: KindOption = None,
    profile: ListedProfile = None,
    as_json: JsonOption = False,
) -> None:
    """List tasks with the paper's titles; as JSON also their files, experiments and claims."""
    from harness.registry import find_tasks

    if kind is profile is None and not as_json:
        # What is wrong is told below, with all that is broken.
        with suppress(SpecError):
            return _print_titles(find_tasks(selectors or []))
    rows = _listed(selectors, kind, profile)
    if as_json:
        return print_rows(rows, as_json=True, columns=[])
    _print_titles({row["id"]: row["title"] for row in rows})


def _print_titles(titles: dict[str, str]) -> None:
    """Print an id and its title per line, cut where it does not fit: `repro show` has it whole."""
    width = max(map(len, titles), default=0)
    room = max(WIDTH - width - 2, 20)
    for name, title in titles.items():
        typer.echo(f"{name:{width}}  {shorten(tidy(title), room, placeholder=' ...')}")


def _listed(selectors: Selectors, kind: str | None, profile: str | None) -> list[dict[str, Any]]:
    from harness.declare.profiles import parse_profile
    from harness.declare.task import Kind
    from harness.registry import load_asked

    wanted = one_of(kind, get_args(Kind), "kind") if kind else None
    library = load_asked(selectors or [])
    tasks = library.select(selectors or [], wanted)
    say_all_broken(library, selectors or [])
    if profile:
        at = parse_profile(profile)
        tasks = [task for task in tasks if any(each.has_grid(at) for each in task.reads)]
        if not tasks:
            raise UsageError(f"no task here has a trial at {at}")
    return [
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


def show_plan(
    selectors: Selectors = None,
    profile: ProfileOption = "smoke",
    settings: SetOption = None,
    seeds: SeedsOption = None,
    stale: StaleOption = False,
    shards: ShardsOption = 0,
    slurm: SlurmOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print the trials to do and to reuse, why, time and memory, and how to get data not here."""
    from harness.registry import experiments_of
    from harness.run.plan import make_plan, probe_limits
    from harness.store.store import RecordStore

    asked = asked_for(selectors, profile, settings, seeds)
    store = RecordStore(asked.workspace)
    store = store.with_committed(experiments_of(asked.tasks), asked.profile)
    plan = make_plan(asked.tasks, asked.profile, store, probe_limits(), rerun_stale=stale)
    if shards or slurm:
        words = command_words(selectors, asked) + (" --stale" if stale else "")
        return _show_shards(plan, shards, words, slurm, as_json)
    if as_json:
        print_rows([_plan_row(item) for item in plan.items.values()], as_json=True, columns=[])
        return
    say_no_trials(plan)
    for head, rows in _plan_groups(plan).items():
        typer.echo("\n".join(wrapped(head, hang=2)))
        print_rows(rows, as_json=False, columns=["experiment", "trials", "core_s", "memory_MiB"])
        typer.echo("")
    if rows := _data_not_here(plan):
        typer.echo("data that these trials read and that are not here")
        print_rows(rows, as_json=False, columns=["data_set", "how_to_get_it", "experiments"])
        typer.echo("")
    _say_time(plan)


def _show_shards(plan: Plan, count: int, words: str, slurm: bool, as_json: bool) -> None:
    """Print what each shard has to do and name those that lack results, or a script for all."""
    from harness.run.shards import MOST_SHARDS, parts_of, slurm_script

    if not 1 <= count <= MOST_SHARDS:
        raise UsageError(f"--shards {str(count)[:12]}: cut into 1 to {MOST_SHARDS}")
    if slurm and as_json:
        raise UsageError("--slurm prints a script: leave out --json")
    if slurm:
        return typer.echo(slurm_script(plan, count, words), nl=False)
    parts = parts_of(plan, count)
    print_rows([asdict(part) for part in parts], as_json=as_json, columns=[*asdict(parts[0])])
    if missing := [part.shard for part in parts if part.to_run]:
        say(f"without all results: shard {', '.join(missing)}")


def _say_time(plan: Plan) -> None:
    """Say how long the trials take: of what runs, and of what cannot."""
    from harness.measure.machine import num_cores
    from harness.run.plan import Action

    blocked_s = plan.seconds_of(Action.BLOCKED)
    more = f", and {time_told(blocked_s, 'core-')} of what is blocked here" if blocked_s else ""
    here = time_told(plan.wall_s(max(1, min(num_cores(), plan.num_to_run))))
    say(f"about {time_told(plan.seconds, 'core-')} to run, {here} here{more}")


def _plan_row(item: PlannedTrial) -> dict[str, Any]:
    """Return a trial as JSON, with the ways to get the data that it reads and that are not here."""
    return {
        "trial": item.trial.name,
        "key": item.trial.key,
        "action": item.action,
        "reason": item.reason,
        "seconds": item.estimate.seconds,
        "memory_bytes": item.estimate.memory_bytes,
        "missing_data": _missing_data(item),
    }


def _missing_data(item: PlannedTrial) -> dict[str, str]:
    """Return the data sets that a trial reads and that are not here, and how to get each."""
    from harness.data.load import available, supply
    from harness.store.trial import with_upstream

    read = {name for trial in with_upstream(item.trial) for name in trial.needs.data}
    return {name: supply(name) for name in sorted(read) if not available(name)}


def _data_not_here(plan: Plan) -> list[dict[str, Any]]:
    """Return a row per data set that is not here, with the experiments that read it."""
    ways: dict[str, str] = {}
    readers: defaultdict[str, set[str]] = defaultdict(set)
    for item in plan.items.values():
        for name, way in _missing_data(item).items():
            ways[name] = way
            readers[name].add(item.trial.experiment.id)
    return [
        {"data_set": name, "how_to_get_it": way, "experiments": sorted(readers[name])}
        for name, way in sorted(ways.items())
    ]


def _plan_groups(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Return by action and reason a row per experiment, with what its trials take together."""
    groups: dict[str, dict[str, list[PlannedTrial]]] = {}
    for item in plan.items.values():
        group = groups.setdefault(f"{item.action}: {item.reason}", {})
        group.setdefault(item.trial.experiment.id, []).append(item)
    return {
        head: [
            {
                "experiment": experiment,
                "trials": len(items),
                "core_s": sum(i.estimate.seconds for i in items if i.action != "reuse"),
                "memory_MiB": round(max(i.estimate.memory_bytes for i in items) / 2**20),
            }
            for experiment, items in group.items()
        ]
        for head, group in groups.items()
    }


def show_status(
    selectors: Selectors = None,
    profile: ProfileOption = "smoke",
    settings: SetOption = None,
    seeds: SeedsOption = None,
    failed: FailedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show each experiment's trials by status, failures with their error, and stale records."""
    from harness.run.status import STATES, trial_states
    from harness.store.store import RecordStore
    from harness.store.trial import trials_behind

    asked = asked_for(selectors, profile, settings, seeds)
    trials = trials_behind(asked.tasks, asked.profile, asked.overrides)
    states = trial_states(trials, asked.profile, RecordStore(asked.workspace))
    if failed:
        states = [state for state in states if not state.has_result]
    if as_json:
        return print_rows([asdict(state) for state in states], as_json=True, columns=[])
    if failed:
        rows = [
            {"state": s.state, "trial": ": ".join(filter(None, [s.trial, s.note]))} for s in states
        ]
        return print_rows(rows, as_json=False, columns=["state", "trial"])
    counts: dict[str, Counter[str]] = {}
    for state in states:
        counter = counts.setdefault(state.experiment, Counter())
        counter[state.state] += 1
        counter["stale"] += state.stale
    counted = [
        {"experiment": name, "trials": [f"{c[s]} {s}" for s in (*STATES, "stale") if c[s]]}
        for name, c in counts.items()
    ]
    print_rows(counted, as_json=False, columns=["experiment", "trials"])


def show(
    name: ShowArgument,
    profile: StoredProfile = None,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell a task's verdicts, the worst first, or all of one claim, and where to look further."""
    from harness.declare.profiles import parse_profile
    from harness.publish.report.terminal import claim_text, task_text, view_of
    from harness.publish.verdicts import json_rows

    task_id, _, claim = name.partition(":")
    asked = asked_for([task_id], "smoke", settings, seeds, reads=True)
    task = asked.library.one(task_id)
    scale = parse_profile(profile) if profile else None
    view = view_of(asked.library, asked.workspace, task, scale)
    if claim:
        view = view.only(claim)
    if as_json:
        beside = {"deviations": [{"id": each.id, "what": each.what} for each in view.deviations]}
        rows = [
            row | beside | {"declared": view.declared}
            for row in json_rows(view.rows, asked.overrides)
        ]
        return print_rows(rows, as_json=True, columns=[])
    typer.echo(headed(claim_text(view) if claim else task_text(view), asked.overrides))


def diff(
    before: Before = "HEAD~1",
    after: After = None,
    exit_code: ExitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare verdicts: those that changed, numbers that moved, claims that ask something else."""
    from harness.publish.diff import compare, diff_text, verdicts_at
    from harness.store.workspace import find_results

    root = find_results().root
    found = compare(verdicts_at(root, before), verdicts_at(root, after))
    if as_json:
        print_rows(found, as_json=True, columns=[])
    else:
        typer.echo(diff_text(found))
    if exit_code and found:
        raise typer.Exit(1)
