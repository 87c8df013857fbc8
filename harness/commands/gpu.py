"""`repro gpu`: what a card that turns up for a few minutes is used for."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from dataclasses import asdict, replace
from math import fsum
from pathlib import Path
from typing import Annotated

import typer

from harness.atomic import write_text
from harness.commands.common import (
    Asked,
    BlocksOption,
    JobsOption,
    asked_for,
    say,
    shown,
)
from harness.commands.run import (
    Means,
    announce,
    make_runner,
    open_store,
    parse_means,
    stop_cleanly_on_signals,
)
from harness.declare.profiles import Profile
from harness.errors import EnvError, Interrupted, NothingRan, RunError
from harness.measure.machine import record_facts
from harness.registry import load_registry
from harness.run.blocks import Block, chosen_blocks, tasks_of, trials_of
from harness.run.plan import Action, Plan, PlannedTrial, make_plan, plan_trials, probe_limits
from harness.run.runner import Summary
from harness.run.status import trial_states
from harness.store.archive import export_records
from harness.store.store import RecordStore
from harness.store.trial import Trial, each_with_upstream, trials_behind, with_upstream
from harness.store.workspace import Workspace

PROFILE: Profile = "gpu"
RECORDS, LEFT = "records.tar.gz", "left.json"
"""What an export holds: results with their artifacts; trials that were asked for and have none."""
REHEARSED = 0.3
"""Share of its seconds that a block has in a rehearsal."""

Chosen = Annotated[
    list[str] | None, typer.Argument(help="Blocks by name, or tasks; all where none is given.")
]
BudgetOption = Annotated[str, typer.Option("--time-budget", help="Stop cleanly after 90s, 25m.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for what was found.")]
RehearseOption = Annotated[
    bool, typer.Option("--rehearse", help="Run all blocks at tiny sizes, without a card.")
]


def gpu(
    chosen: Chosen = None,
    blocks: BlocksOption = None,
    time_budget: BudgetOption = "9m",
    out: OutOption = Path("runs/found"),
    jobs: JobsOption = 0,
    rehearse: RehearseOption = False,
) -> None:
    """Run what is due at `gpu`, and export what was found, however it ends.

    With --blocks the blocks of that file run in their order, each until its time is up. Otherwise
    kernels come first, then experiments, the shortest first. Started again it goes on.
    OUT/records.tar.gz is for `repro records import`; OUT/left.json lists the trials that were asked
    for and have no result, with the error where there is one.
    """
    start = time.monotonic()
    means = parse_means("local", jobs, time_budget)
    time_blocks = chosen_blocks(blocks, chosen or [])
    tasks = tasks_of(time_blocks) or chosen
    asked = _rehearsed(tasks) if rehearse else _due(tasks)
    stop_cleanly_on_signals(None)
    store, end = open_store(asked), start + (means.budget_s or 0.0)
    wanted = trials_of(time_blocks, asked.library, asked.profile)
    wanted = wanted or trials_behind(asked.tasks, asked.profile, asked.overrides)
    # An export replaces what an earlier command wrote there, so it holds what that one found too.
    all_tasks = [*load_registry().tasks.values()]
    kept = each_with_upstream([*wanted, *trials_behind(all_tasks, asked.profile)])
    # Now, since a folder that cannot be written is better told before the card's time is spent.
    _write_left(asked, wanted, out.resolve())
    summaries: list[Summary] = []
    for block in time_blocks or (None,):
        try:
            summary = _run(block, asked, store, means, end)
            summaries += [summary] if summary else []
        finally:
            _export(asked, wanted, kept, out.resolve())
    _conclude(summaries, out.resolve())


def _due(tasks: list[str] | None) -> Asked:
    if not probe_limits().has_cuda:
        raise EnvError("nvidia-smi shows no card here, so nothing was run: repro plan -p gpu")
    return asked_for(tasks, PROFILE)


def _rehearsed(tasks: list[str] | None) -> Asked:
    """Return tasks at `smoke` in a folder of their own: what they give is no result."""
    # Triton reads it when a worker imports it.
    os.environ["TRITON_INTERPRET"] = "1"
    asked = asked_for(tasks, "smoke")
    return replace(asked, workspace=Workspace(asked.workspace.runs / "rehearsal"))


def _plan_of(block: Block | None, asked: Asked, store: RecordStore) -> Plan:
    """Return what a block runs, or all that is due."""
    limits = probe_limits()
    if block is None:
        listed = [task for task in asked.library.tasks.values() if task in asked.tasks]
        return in_order(make_plan(listed, asked.profile, store, limits))
    trials = block.trials(asked.library, asked.profile)
    plan = plan_trials(trials, asked.profile, store, limits)
    return replace(plan, tasks=block.chosen(asked.library))


def _run(
    block: Block | None, asked: Asked, store: RecordStore, means: Means, end: float
) -> Summary | None:
    """Run a block, or all that is due, until its seconds are over; None where none are left.

    end: of the budget, on the monotonic clock.
    """
    plan, name, left_s = _plan_of(block, asked, store), "all", end - time.monotonic()
    if block:
        share = 1.0 if asked.profile == PROFILE else REHEARSED
        name, left_s = block.name, min(share * block.seconds, left_s)
    if left_s <= 0:
        say(f"{name}: no time is left for it")
        return None
    runner = make_runner(
        plan,
        store,
        asked.library,
        replace(means, budget_s=left_s),
        record_facts(),
        # What is left of a block is given up anyway.
        to_the_end=block is not None,
        rehearsed=PROFILE,
    )
    say(f"{name}: {block.about if block else 'What is due.'}")
    announce(plan, runner.executor.num_workers)
    summary = runner.run()
    say(
        f"{name}: {summary.wall_s:.0f} of {left_s:.0f} s, {summary.num_run} run,"
        f" {summary.num_reused} reused, {summary.num_blocked} not run here,"
        f" {len(summary.failed)} failed, {summary.num_left} left"
    )
    if summary.interrupted:
        say("interrupted: nothing is lost, the same command goes on from here")
        raise typer.Exit(Interrupted.exit_code)
    return summary


def _conclude(summaries: list[Summary], out: Path) -> None:
    """Say what to do next; exit with the matching code."""
    if failed := sum(len(each.failed) for each in summaries):
        say(f"{failed} failed: {shown(out / LEFT)} says why")
        raise typer.Exit(RunError.exit_code)
    if not any(each.num_run or each.num_reused or each.num_left for each in summaries):
        raise NothingRan("nothing of what was asked for can run here: the reasons stand above")
    if num_left := sum(each.num_left for each in summaries):
        say(f"{num_left} trials left: the same command goes on from here")


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


def _export(asked: Asked, wanted: list[Trial], kept: list[Trial], out: Path) -> None:
    """Write all results so far to a folder, and why trials that were asked for have none.

    kept: whose results are written, whichever command found them.
    """
    num_left, store = _write_left(asked, wanted, out), RecordStore(asked.workspace)
    if not any(store.result(trial) for trial in kept):
        say(f"no result yet: {shown(out / LEFT)} says of each trial how it stands")
        return
    file = out / RECORDS
    summary = export_records(asked.workspace, kept, asked.profile, file)
    say(f"wrote {shown(file)}: {summary.num_records} records, {num_left} trials have none")
    if summary.left_out:
        say(f"left out (too large, missing or altered): {', '.join(summary.left_out)}")
    if asked.profile == PROFILE:
        say(f"at home: repro records import {RECORDS}")
        say(f"then, for tables: repro run --profile {PROFILE}")


def _write_left(asked: Asked, wanted: list[Trial], out: Path) -> int:
    """List the trials without a result; return how many they are."""
    states = trial_states(wanted, asked.profile, RecordStore(asked.workspace))
    left = [asdict(state) for state in states if not state.has_result]
    write_text(out / LEFT, json.dumps(left, indent=1) + "\n")
    return len(left)
