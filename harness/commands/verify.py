"""The verb that runs committed trials again and says what agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, get_args

import typer

from harness.commands.common import (
    Asked,
    ExecutorOption,
    JobsOption,
    JsonOption,
    ProfileOption,
    Selectors,
    asked_for,
    print_rows,
    say,
    time_told,
)
from harness.commands.run import (
    Means,
    make_runner,
    parse_means,
    stop_cleanly_on_signals,
)
from harness.errors import Interrupted, RunError, UsageError
from harness.measure.machine import cpu_name, record_facts
from harness.run.plan import plan_trials, probe_limits
from harness.run.runner import Summary
from harness.run.verify import Outcome, Word, compare_drawn, draw_trials, keep, load_verified
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from harness.terminal import wrapped

SampleOption = Annotated[int, typer.Option("--sample", help="Trials per experiment.")]


def verify(
    selectors: Selectors = None,
    profile: ProfileOption = "cpu",
    sample: SampleOption = 3,
    jobs: JobsOption = 0,
    executor: ExecutorOption = "local",
    as_json: JsonOption = False,
) -> None:
    """Run a random sample of committed trials again, on this machine, and say what agrees.

    A hash of the commit draws them, nobody picks. What came of them is kept beside the records:
    a difference is a finding, not an error.
    """
    if sample < 1:
        raise UsageError(f"--sample {sample}: need a whole number of at least 1")
    means = parse_means(executor, jobs)
    stop_cleanly_on_signals(None)
    outcomes, summary = _verify(asked_for(selectors, profile), sample, means)
    if as_json:
        print_rows([asdict(outcome) for outcome in outcomes], as_json=True, columns=[])
    else:
        typer.echo("\n".join(summary_lines(outcomes)))
    _conclude(summary, outcomes)


def _verify(asked: Asked, sample: int, means: Means) -> tuple[list[Outcome], Summary]:
    """Draw, run in a checkout of their own, compare and keep; tell how the run ended, too."""
    facts = record_facts()
    papers = dict.fromkeys(task.paper for task in asked.tasks)
    for paper in papers:
        # One that is damaged is told before hours are spent.
        load_verified(asked.workspace, paper)
    drawn = [
        each
        for experiment in dict.fromkeys(e for task in asked.tasks for e in task.reads)
        for each in draw_trials(
            asked.workspace, experiment, asked.profile, sample, commit=facts["commit"]
        )
    ]
    if not drawn:
        raise UsageError(
            f"no record is committed at {asked.profile} for what is selected: name another"
            " profile, or run it first"
        )
    # A trial's own child may outlive it by a moment, and must not spoil the end.
    with TemporaryDirectory(prefix="repro-verify-", ignore_cleanup_errors=True) as folder:
        store = RecordStore(Workspace(Path(folder)))
        trials = [each.trial for each in drawn]
        plan = plan_trials(trials, asked.profile, store, probe_limits())
        say(
            f"trials to verify: {len(drawn)}; to run, with those they start from:"
            f" {plan.num_to_run}, about {time_told(plan.seconds, 'core-')}"
        )
        summary = make_runner(plan, store, asked.library, means, facts).run()
        outcomes = compare_drawn(drawn, store, asked.library)
    for paper in papers:
        own = [each for each in outcomes if each.experiment.split("/")[0] == paper]
        keep(asked.workspace, paper, own, cpu=cpu_name(facts["machine"]), commit=facts["commit"])
    return outcomes, summary


def summary_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line per experiment, then one for each trial that differs or was not run."""
    groups: dict[str, Counter[str]] = {}
    for each in outcomes:
        groups.setdefault(each.experiment, Counter())[each.outcome] += 1
    width = max(map(len, groups), default=0)
    lines = []
    for name, words in groups.items():
        told = ", ".join(f"{words[word]} {word}" for word in get_args(Word) if words[word])
        lines.append(f"{name:{width}}  {told}")
    then = dict.fromkeys(outcome.then for outcome in outcomes)
    lines += wrapped(f"recorded on {' and '.join(then)}", 2, hang=2) if outcomes else []
    for each in outcomes:
        if not each.agrees:
            told = f"{each.outcome}: {each.trial}: {each.reason}"
            lines += wrapped(told, 2, hang=2)
    return lines


def _conclude(summary: Summary, outcomes: Sequence[Outcome]) -> None:
    """Say what is left; exit with the code of a run that ended that way."""
    if summary.interrupted:
        say("interrupted: what was compared is kept, what was not is drawn again at this commit")
        raise typer.Exit(Interrupted.exit_code)
    if summary.failed:
        first = summary.failed[0]
        say(f"{len(summary.failed)} of {summary.num_run} failed, the first: {first.note}")
        raise typer.Exit(RunError.exit_code)
    ran = [each.experiment.partition("/")[0] for each in outcomes if each.outcome != "not run"]
    if ran:
        files = ", ".join(f"results/{paper}/verified.jsonl" for paper in dict.fromkeys(ran))
        say(f"kept in {files}: commit it, also where something differs")
