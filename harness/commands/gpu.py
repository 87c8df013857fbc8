"""`repro gpu`: what a card that turns up for a few minutes is used for, and what it is brought."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.atomic import write_text
from harness.commands.common import (
    Asked,
    Selectors,
    asked_for,
    command_words,
    group,
    print_rows,
    say,
    shown,
)
from harness.commands.run import (
    Means,
    carry_out,
    open_store,
    parse_means,
    stop_cleanly_on_signals,
)
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import EnvError, Interrupted
from harness.registry import Library
from harness.run.carry import make_pack
from harness.run.plan import MachineLimits, Plan, make_plan, probe_limits
from harness.run.status import trial_states, trials_due
from harness.store.archive import export_records
from harness.store.store import RecordStore

PROFILE: Profile = "gpu"
RECORDS, LEFT = "records.tar.gz", "left.json"
"""What an export holds: results with their artifacts, and the trials that have none, with why."""

EPILOG = """
Examples:  repro gpu pack runs/carry --python-version 3.12  |
repro gpu pack runs/carry asymvalley --without cifar10_10k_5k  |  repro gpu run --time-budget 8m
"""

app = group(
    help="Use a card that turns up, also where there is no network.",
    epilog=EPILOG,
)

BudgetOption = Annotated[str, typer.Option("--time-budget", help="Stop cleanly after 90s, 25m.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for what was found.")]
CardJobsOption = Annotated[
    int, typer.Option("--jobs", "-j", help="Processes; 0: as many as cores and the card's memory.")
]


@app.command("run")
def run(
    selectors: Selectors = None,
    time_budget: BudgetOption = "8m",
    out: OutOption = Path("runs/found"),
    jobs: CardJobsOption = 0,
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
    asked = asked_for(selectors, PROFILE)
    stop_cleanly_on_signals(None)
    store = open_store(asked)
    parts = due(asked.library, asked.tasks, store, limits)
    means = [
        parse_means("local", jobs or part.num_side_by_side(limits.gpu_bytes), time_budget)
        for part in parts
    ]
    words = command_words(selectors, asked)
    # Now, since a folder that cannot be written is better told before the card's time is spent.
    _write_left(asked, out.resolve())

    def run_part(part: Plan, means: Means) -> None:
        at_end = partial(_export, asked, out.resolve())
        carry_out(part, store, asked.library, means, words, at_end=at_end)

    in_turn(list(zip(parts, means, strict=True)), run_part)


def due(
    library: Library, tasks: Sequence[Task], store: RecordStore, limits: MachineLimits
) -> list[Plan]:
    """Return what a card is asked for, in the order in which a short time on it is used.

    Kernels come first, with what they start from and in their own order: what says that they are
    right comes before what is built on it. As many trials share a card as the largest of a part
    lets, and kernels need little of it.
    """
    listed = library.as_listed(tasks)
    kernels = [task for task in listed if task.kind == "kernel"]
    others = [task for task in listed if task.kind != "kernel"]
    first = make_plan(kernels, PROFILE, store, limits)
    rest = make_plan(others, PROFILE, store, limits).cheapest_first()
    return [part for part in (first, rest) if part.num_to_run] or [first if kernels else rest]


def in_turn(parts: Sequence[tuple[Plan, Means]], run_part: Callable[[Plan, Means], None]) -> None:
    """Run parts of a plan within one time budget, a part too whose predecessor had failures.

    Ends as the first does that ended badly; an interrupt ends all.
    """
    start_s, failed = time.monotonic(), None
    for part, means in parts:
        spent_s = time.monotonic() - start_s
        if means.budget_s is not None and spent_s >= means.budget_s:
            break
        left_s = None if means.budget_s is None else means.budget_s - spent_s
        try:
            run_part(part, replace(means, budget_s=left_s))
        except typer.Exit as end:
            if end.exit_code == Interrupted.exit_code:
                raise
            failed = failed or end
    if failed:
        raise failed


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


@app.command("pack")
def pack(
    out: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    selectors: Selectors = None,
    python_version: Annotated[str, typer.Option(help="Of the machine with the card.")] = "3.12",
    also: Annotated[
        list[str] | None, typer.Option(help="A distribution to bring with all it needs, as torch.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A data set or distribution to leave out.")
    ] = None,
) -> None:
    """Fill a folder for a machine with a card and no network: wheels, and data of trials due.

    It is taken to have torch and what most images with torch have; of that nothing is replaced.
    There: `make gpu FROM=folder`, in a copy of this checkout.
    """
    asked = asked_for(selectors, PROFILE)
    due = trials_due(asked.tasks, PROFILE, RecordStore(asked.workspace))
    items = make_pack(
        due, out, python_version=python_version, also=also or (), without=without or ()
    )
    rows: list[dict[str, Any]] = [
        {"kind": i.kind, "name": i.name, "MiB": i.num_bytes / 2**20, "trials due": i.num_trials}
        for i in items
    ]
    print_rows(rows, as_json=False, columns=["kind", "name", "MiB", "trials due"])
    total = sum(item.num_bytes for item in items)
    say(f"{shown(out)}: {total / 2**20:.1f} MiB for {len(due)} trials due")
    say(f"there, in a copy of this checkout: make gpu FROM={shown(out)} BUDGET=8m")
