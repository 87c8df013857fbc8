"""The verb that runs trials."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.atomic import remove_leftovers
from harness.commands.common import (
    Asked,
    ExecutorOption,
    JobsOption,
    ProfileOption,
    SeedsOption,
    Selectors,
    SetOption,
    asked_for,
    broken_said,
    command_words,
    fail_if_broken,
    parse_duration,
    print_rows,
    say,
    say_no_trials,
    shown,
    time_told,
)
from harness.errors import (
    EnvError,
    Interrupted,
    NothingRan,
    RunError,
    SpecError,
    UsageError,
    one_of,
)
from harness.measure.machine import record_facts
from harness.publish.check_row import CheckRow
from harness.publish.counts import checks_in_words, counted
from harness.publish.refresh import Refresher
from harness.registry import Library, experiments_of
from harness.run.dry_run import dry_runs
from harness.run.executors.job import Executor
from harness.run.executors.local import LocalExecutor
from harness.run.executors.worker import InlineExecutor
from harness.run.plan import Action, Plan, make_plan, probe_limits
from harness.run.progress import make_progress
from harness.run.runner import Runner, Summary
from harness.run.shards import Shard, in_shard, parse_shard
from harness.store.pair import finish_pairs
from harness.store.store import RecordStore

if TYPE_CHECKING:
    from harness.run.executors.ray import RayExecutor

JOBS_PER_CORE = 8
"""More processes only wait for one another, and each holds its own torch in memory."""
STOPPING = (signal.SIGINT, signal.SIGTERM)
MOST_NAMED = 3
"""Experiments of trials that are left out for one reason."""

SMOKE = "This quick run says nothing about the papers."

BudgetOption = Annotated[
    str | None, typer.Option("--time-budget", help="Stop cleanly after 90s, 25m, 1h30m.")
]
StaleOption = Annotated[bool, typer.Option("--stale", help="Re-run records of changed code.")]
AddressOption = Annotated[
    str, typer.Option("--address", help="HOST:PORT of a Ray cluster; none: one started here.")
]
ShardOption = Annotated[
    str, typer.Option("--shard", help="Only part 3/16 of it, for a job array; no tables are made.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Build on the meta device; print memory and time.")
]


def run(
    selectors: Selectors = None,
    profile: ProfileOption = "smoke",
    jobs: JobsOption = 0,
    time_budget: BudgetOption = None,
    stale: StaleOption = False,
    executor: ExecutorOption = "local",
    address: AddressOption = "",
    shard: ShardOption = "",
    dry_run: DryRunOption = False,
    settings: SetOption = None,
    seeds: SeedsOption = None,
) -> None:
    """Run what has no result yet, then refresh tables, verdicts and figures.

    Killed at any instant and started again, it ends with the same table.
    """
    means = parse_means(executor, jobs, time_budget, address=address, clusters=True)
    part = parse_shard(shard) if shard else None
    if part and means.executor == "ray":
        raise UsageError("--shard: each runs on its own machine: leave out --executor ray")
    asked = asked_for(selectors, profile, settings, seeds)
    if not asked.tasks:
        fail_if_broken()
    if dry_run:
        return _dry_run(asked)
    stop_cleanly_on_signals(None)
    store = open_store(asked)
    with cluster_of(means, store, asked) as cluster:
        limits = cluster.limits if cluster else probe_limits()
        plan = make_plan(asked.tasks, asked.profile, store, limits, rerun_stale=stale)
        say_no_trials(plan)
        if not plan.items:
            raise NothingRan(f"nothing of what was asked for has a trial at {asked.profile}")
        words = command_words(selectors, asked)
        if part:
            return carry_out_shard(in_shard(plan, part), part, store, asked.library, means, words)
        carry_out(plan, store, asked.library, means, words, cluster)


@dataclass(frozen=True, slots=True)
class Means:
    """With what trials are run."""

    executor: str
    num_workers: int
    budget_s: float | None = None
    address: str = ""
    """Of a Ray cluster."""


def parse_means(
    executor: str,
    jobs: int,
    time_budget: str | None = None,
    *,
    address: str = "",
    clusters: bool = False,
) -> Means:
    """Return what the options say, 0 jobs standing for all cores. Raises UsageError for others.

    clusters: whether the verb can use one.
    """
    known = ("local", "inline", *(("ray",) if clusters else ()))
    name = one_of(executor, known, "executor")
    if address and (name != "ray" or jobs):
        raise UsageError("--address: it takes --executor ray, and no --jobs: a cluster has its own")
    cores = os.cpu_count() or 1
    most = JOBS_PER_CORE * cores
    if not 0 <= jobs <= most:
        raise UsageError(
            f"--jobs {str(jobs)[:12]}: need a number of processes, at most {most} on {cores} cores,"
            " or 0 for all cores"
        )
    return Means(name, jobs or cores, parse_duration(time_budget), address)


@contextmanager
def cluster_of(means: Means, store: RecordStore, asked: Asked) -> Iterator[RayExecutor | None]:
    """Connect to the cluster that is to run what was asked for, if one is.

    Raises EnvError without Ray, and RunError where the cluster cannot be used.
    """
    if means.executor != "ray":
        yield None
        return
    if find_spec("ray") is None:
        raise EnvError("--executor ray needs Ray: pip install 'paper-reproductions[cluster]'")
    modules = {asked.library.modules[task.id] for task in asked.tasks}
    executor: RayExecutor | None = None
    try:
        from harness.run.executors.ray import RayExecutor

        executor = RayExecutor(
            store,
            {name.partition(".")[0] for name in modules},
            address=means.address,
            num_cpus=means.num_workers,
        )
        yield executor
    except KeyboardInterrupt:
        _ignore_signals()
        if executor is None:
            # Of Ray half started, the regular end of a process may crash or be another exit code.
            sys.stderr.write("repro: interrupted\n")
            os._exit(Interrupted.exit_code)
        raise
    finally:
        # It is the end: an exception would leave parts of Ray behind.
        _ignore_signals()
        if executor:
            executor.close()


def _ignore_signals() -> None:
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)


def stop_cleanly_on_signals(runner: Runner | None) -> None:
    """Make Ctrl-C and a polite kill end a run where it stands; a second one ends it at once.

    An exception raised at any instruction could leave the pool of workers in any state, so
    while trials run in workers the signal only asks for the end, and while they are ended it says
    nothing new. Without a runner, or where the trial runs in this very process, an exception is
    the only way.
    """

    def stop(signum: int, frame: object) -> None:
        if runner is not None and runner.is_ending:
            return
        if runner is None or not runner.is_running or runner.stop_requested:
            raise KeyboardInterrupt
        runner.request_stop()

    for number in STOPPING:
        signal.signal(number, stop)


def carry_out(
    plan: Plan,
    store: RecordStore,
    library: Library,
    means: Means,
    asked: str,
    cluster: Executor | None = None,
) -> None:
    """Run a plan, refresh its tasks, and say what came of it; asked: what followed the verb."""
    refresh = Refresher(store.workspace, library, plan.profile)
    runner = make_runner(plan, store, library, means, record_facts(), cluster, on_task_done=refresh)
    announce(plan, runner.executor.num_workers)
    try:
        summary = runner.run()
    finally:
        rows = refresh.rest(plan.tasks)
    _conclude(summary, refresh, rows, plan, asked)


def carry_out_shard(
    plan: Plan, shard: Shard, store: RecordStore, library: Library, means: Means, asked: str
) -> None:
    """Run one shard's trials; tables are made where all shards have come together."""
    runner = make_runner(plan, store, library, means, record_facts())
    announce(plan, runner.executor.num_workers)
    summary = runner.run()
    say(_counts(summary))
    _fail_if_not_all_ran(summary, plan, asked)
    _say_next(summary, f"shard {shard} is done; once all are here: repro run {asked}")


def make_runner(
    plan: Plan,
    store: RecordStore,
    library: Library,
    means: Means,
    facts: Mapping[str, Any],
    cluster: Executor | None = None,
    **options: Any,
) -> Runner:
    """Return what runs a plan, and is stopped by Ctrl-C from now on; options: as it takes them."""
    executor = cluster or InlineExecutor()
    if means.executor == "local":
        to_run = plan.with_action(Action.RUN)
        # Trials that run alone follow each other in one process, which has imported what they need.
        side_by_side = any(not item.trial.needs.exclusive for item in to_run)
        num_workers = min(means.num_workers, len(to_run)) if side_by_side else 1
        executor = LocalExecutor(max(num_workers, 1))
    runner = Runner(
        plan,
        store,
        library,
        executor,
        make_progress(),
        facts={**facts, "overrides": dict(plan.overrides)},
        time_budget_s=means.budget_s,
        **options,
    )
    stop_cleanly_on_signals(None if means.executor == "inline" else runner)
    return runner


def announce(plan: Plan, num_workers: int) -> None:
    """Say what a run will do, how long it takes here, and what it leaves out and why."""
    tasks = f"{len(plan.tasks)} task{'' if len(plan.tasks) == 1 else 's'}"
    say(
        f"{tasks} at {plan.profile}: {plan.num_to_run} trials to run, "
        f"{len(plan.with_action(Action.REUSE))} reused, "
        f"about {time_told(plan.seconds, 'core-')}, {time_told(plan.wall_s(num_workers))} here"
    )
    blocked: dict[str, list[str]] = {}
    for item in plan.with_action(Action.BLOCKED):
        blocked.setdefault(item.reason, []).append(item.trial.experiment.id)
    for reason, ids in blocked.items():
        names = list(dict.fromkeys(ids))
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        trials = f"{len(ids)} trial{'' if len(ids) == 1 else 's'}"
        say(f"left out: {trials} of {', '.join(names[:MOST_NAMED])}{more}: {reason}")


def open_store(asked: Asked) -> RecordStore:
    """Return the records of a checkout, filled from the committed ones."""
    workspace, profile = asked.workspace, asked.profile
    for folder in (workspace.runs, workspace.results(profile), workspace.figures(profile)):
        remove_leftovers(folder)
    finish_pairs(workspace.results(profile))
    store = RecordStore(workspace)
    for experiment in experiments_of(asked.tasks):
        store.unpack(experiment.id, profile)
    return store


def _conclude(
    summary: Summary, refresh: Refresher, rows: Sequence[CheckRow], plan: Plan, asked: str
) -> None:
    """Print what came of it, where it lies, and what to do next; exit with the matching code."""
    _say_found(summary, refresh, rows, plan)
    _fail_if_not_all_ran(summary, plan, asked)
    if refresh.broken and not summary.num_left and not summary.num_blocked:
        raise SpecError(f"correct {', '.join(refresh.broken)} and run again: no trial is lost")
    failing = [row for row in rows if row.fails]
    for row in failing:
        say(f"{row.task} {row.claim} ({row.grade}): {row.verdict} {row.reason}")
    if failing:
        raise typer.Exit(1)
    more = f"next: repro check {asked}; repro {'variants' if plan.overrides else 'report'}"
    _say_next(summary, "" if broken_said else more)


def _say_next(summary: Summary, text: str) -> None:
    """Say what to do after a run. Raises NothingRan where nothing could run here."""
    if summary.num_blocked and not (summary.num_run or summary.num_reused or summary.num_left):
        raise NothingRan("nothing of what was asked for can run here: the reasons stand above")
    if summary.num_left:
        say("the time budget is used up: the same command goes on from here")
    elif text:
        say(text)


def _fail_if_not_all_ran(summary: Summary, plan: Plan, asked: str) -> None:
    """Exit with the matching code where a run was interrupted or a trial failed."""
    if summary.interrupted:
        say("interrupted: nothing is lost, the same command goes on from here")
        raise typer.Exit(Interrupted.exit_code)
    for name, error in summary.stopped.items():
        say(f"{name}{plan.overrides.options} stopped, three times in a row: {error}")
    if summary.failed:
        say(f"{len(summary.failed)} of {summary.num_run} failed: repro status --failed {asked}")
        raise typer.Exit(RunError.exit_code)


def _counts(summary: Summary) -> str:
    return (
        f"{summary.num_run} run, {summary.num_reused} reused, {summary.num_blocked} not run here, "
        f"{len(summary.failed)} failed, {summary.num_left} left, in {summary.wall_s:.1f} s"
    )


def _say_found(summary: Summary, refresh: Refresher, rows: Sequence[CheckRow], plan: Plan) -> None:
    say(_counts(summary))
    if plan.profile == "smoke":
        say(f"{checks_in_words(rows) or 'no checks'}. {SMOKE}")
    else:
        say(counted(rows) or "no claims")
    where = refresh.workspace
    results, figures = where.results(refresh.profile), where.figures(refresh.profile)
    if results.is_dir():
        say(f"tables: {shown(results)}, figures: {shown(figures)}")
    for task_id, reason in refresh.broken.items():
        say(f"{task_id}: no table, verdicts or figure could be made: {reason}")


def _dry_run(asked: Asked) -> None:
    """Build each distinct trial on the meta device and print what it would take."""
    rows = dry_runs(asked.tasks, asked.profile, asked.overrides)
    if not rows:
        return say(f"nothing is trained at {asked.profile}")
    print_rows(rows, as_json=False, columns=list(rows[0]))
    wrong = [row for row in rows if row["parameters"] != row["expected"]]
    if wrong:
        raise RunError(
            f"{wrong[0]['experiment']} builds {wrong[0]['parameters']} parameters, the closed form "
            f"says {wrong[0]['expected']}: correct the model or the formula"
        )
