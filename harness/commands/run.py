"""The verb that runs trials."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from harness.commands.common import (
    KindOption,
    ProfileOption,
    Selectors,
    parse_duration,
    parse_kind,
    parse_overrides,
    parse_profile,
    print_rows,
    say,
)
from harness.errors import RunError
from harness.registry import Library, load_registry
from harness.task import Profile, Scalar, Task
from harness.workspace import Workspace, find_workspace

SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Override a parameter: name=value.")
]


def mount(app: typer.Typer) -> None:
    """Add `run` to the command line."""
    app.command("run")(run)


def run(
    selectors: Selectors = None,
    kind: KindOption = None,
    profile: ProfileOption = "smoke",
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; 0: as many as cores.")] = 0,
    time_budget: Annotated[
        str | None, typer.Option("--time-budget", help="Stop cleanly after 90s, 25m, 1h30m.")
    ] = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="Only what earlier runs left NOT_RUN.")
    ] = False,
    stale: Annotated[bool, typer.Option("--stale", help="Re-run records of changed code.")] = False,
    executor: Annotated[str, typer.Option(help="local (processes) or inline.")] = "local",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Build on the meta device; print memory and time.")
    ] = False,
    settings: SetOption = None,
    seeds: Annotated[int | None, typer.Option("--seeds", help="Number of seeds.")] = None,
) -> None:
    """Run what has no result yet, then refresh tables, verdicts and figures.

    Killed at any instant and started again, it ends with the same table.
    """
    library = load_registry()
    scale = parse_profile(profile)
    tasks = library.select(selectors or [], parse_kind(kind))
    if dry_run:
        _dry_run(tasks, scale)
        return
    overrides = parse_overrides(settings or [], seeds)
    workspace = find_workspace().with_overrides(overrides)
    _interrupt_on_sigterm()
    _run(
        library,
        workspace,
        tasks,
        scale,
        overrides,
        num_workers=jobs or os.cpu_count() or 1,
        budget_s=parse_duration(time_budget),
        only_pending=pending,
        rerun_stale=stale,
        executor_name=executor,
    )


def _interrupt_on_sigterm() -> None:
    """Treat a polite kill as Ctrl-C: stop cleanly."""

    def stop(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


def _run(
    library: Library,
    workspace: Workspace,
    tasks: Sequence[Task],
    profile: Profile,
    overrides: dict[str, Scalar],
    *,
    num_workers: int,
    budget_s: float | None,
    only_pending: bool,
    rerun_stale: bool,
    executor_name: str,
) -> None:
    from harness.executors import make_executor
    from harness.plan import Action, make_plan, probe_limits
    from harness.progress import make_progress
    from harness.records import RecordStore
    from harness.refresh import pack_experiments, refresh_task
    from harness.registry import walk_experiments
    from harness.runner import Runner

    store = RecordStore(workspace)
    for name in dict.fromkeys(e.id for task in tasks for e in walk_experiments(task)):
        store.unpack(name, profile)
    plan = make_plan(
        tasks,
        profile,
        store,
        probe_limits(),
        overrides=overrides,
        rerun_stale=rerun_stale,
        only_pending=only_pending,
    )
    to_run = len(plan.with_action(Action.RUN))
    say(
        f"{len(tasks)} tasks at {profile}: {to_run} trials to run, "
        f"{len(plan.items) - to_run} reused or blocked, about {plan.seconds / 60:.1f} core-minutes"
    )
    checks: dict[str, list[Any]] = {}

    def refresh(task: Task) -> None:
        checks[task.id] = refresh_task(workspace, library, task, profile, overrides=overrides)
        if workspace.is_committed(profile):
            pack_experiments(workspace, task, profile, store)

    runner = Runner(
        plan,
        store,
        library,
        make_executor(executor_name, min(num_workers, max(to_run, 1))),
        make_progress(),
        facts={**_facts(), "overrides": overrides},
        time_budget_s=budget_s,
        rerun=rerun_stale,
        on_task_done=refresh,
    )
    try:
        summary = runner.run()
    finally:
        for task in tasks:
            if task.id not in checks:
                refresh(task)
    _conclude(summary, checks, profile)


def _facts() -> dict[str, Any]:
    """Return what every record of this run carries, probed once."""
    from harness.measure.machine import machine_facts

    facts = machine_facts().to_json()
    return {name: facts.pop(name) for name in ("commit", "dirty", "versions")} | {"machine": facts}


def _conclude(summary: Any, checks: dict[str, list[Any]], profile: Profile) -> None:
    """Print what came of it and what to do next; exit with the matching code."""
    words: dict[str, int] = {}
    for rows in checks.values():
        for row in rows:
            words[row.verdict] = words.get(row.verdict, 0) + 1
    verdicts = ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
    say(
        f"{summary.num_run} run, {summary.num_reused} reused, {summary.num_blocked} not run here, "
        f"{len(summary.failed)} failed, {summary.num_left} left, in {summary.wall_s:.1f} s; "
        f"claims: {verdicts or 'none'}"
    )
    if summary.interrupted:
        say("interrupted: nothing is lost, the same command goes on from here")
        raise typer.Exit(130)
    if summary.failed:
        say(
            f"{len(summary.failed)} of {summary.num_run} failed: "
            f"repro status --failed --profile {profile}"
        )
        raise typer.Exit(3)
    failing = [row for rows in checks.values() for row in rows if row.fails]
    for row in failing:
        say(f"{row.task} {row.claim} ({row.grade}): {row.verdict} {row.reason}")
    if failing:
        raise typer.Exit(1)
    if summary.num_left:
        say("the time budget is used up: the same command goes on from here")
    else:
        say(f"next: repro check --profile {profile}, repro report")


def _dry_run(tasks: Sequence[Task], profile: Profile) -> None:
    """Build each distinct trial on the meta device and print what it would take."""
    from harness.dry_run import dry_runs

    rows = dry_runs(tasks, profile)
    print_rows(rows, as_json=False, columns=list(rows[0]) if rows else ["experiment"])
    wrong = [row for row in rows if row["parameters"] != row["expected"]]
    if wrong:
        raise RunError(
            f"{wrong[0]['experiment']} builds {wrong[0]['parameters']} parameters, the closed form "
            f"says {wrong[0]['expected']}: correct the model or the formula"
        )
