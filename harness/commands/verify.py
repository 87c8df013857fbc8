"""The verb that runs committed trials again and says what agrees."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
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
    time_told,
)
from harness.commands.run import (
    INTERRUPTED,
    ExecutorOption,
    JobsOption,
    Means,
    parse_means,
    run_facts,
    stop_cleanly_on_signals,
)
from harness.declare.experiment import Experiment
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import UsageError
from harness.registry import Library, experiments_of, load_registry
from harness.store.workspace import find_workspace

if TYPE_CHECKING:  # what they import would slow every verb down
    from harness.provenance.verify import Verification
    from harness.run.rerun import Committed
    from harness.run.runner import Summary

WIDTH = 80

SampleOption = Annotated[int, typer.Option("--sample", help="Trials per experiment.")]
ExperimentOption = Annotated[
    list[str] | None,
    typer.Option("--experiment", help="Only this one, also one that others start from."),
]
StaleOption = Annotated[bool, typer.Option("--stale", help="Only records of older code.")]


def mount(app: typer.Typer) -> None:
    """Add `verify` to the command line."""
    app.command("verify")(verify)


def verify(
    selectors: Selectors = None,
    kind: KindOption = None,
    profile: ProfileOption = "cpu",
    sample: SampleOption = 3,
    experiment: ExperimentOption = None,
    stale: StaleOption = False,
    settings: SetOption = None,
    seeds: SeedsOption = None,
    cohort: CohortOption = None,
    jobs: JobsOption = 0,
    executor: ExecutorOption = "local",
    as_json: JsonOption = False,
) -> None:
    """Run a random sample of committed trials again, on this machine, and say what agrees.

    A hash of the commit draws them, nobody picks; with --set, --seeds or --cohort among those
    that a run with the same options would show. Every outcome is kept beside the records, also
    one that differs: a difference is a finding, not an error.
    """
    scale = parse_profile(profile)
    if sample < 1:
        raise UsageError(f"--sample {sample}: need a whole number of at least 1")
    means = parse_means(executor, jobs)
    stop_cleanly_on_signals(None)
    library = load_registry()
    tasks = chosen(library, selectors, kind)
    experiments = chosen_experiments(library, tasks, experiment or [])
    overrides = open_workspace(tasks, settings, seeds).overrides
    which = {"only_stale": stale, "among": _keys_of(tasks, scale, overrides, cohort)}
    outcomes, summary = _verify(library, scale, experiments, num=sample, means=means, which=which)
    if as_json:
        print_rows([o.model_dump(mode="json") for o in outcomes], as_json=True, columns=[])
    else:
        for line in summary_lines(outcomes):
            typer.echo(line)
    _conclude(summary, outcomes)


def _keys_of(
    tasks: Sequence[Task], profile: Profile, overrides: Overrides, cohort: str | None
) -> set[str] | None:
    """Return the keys of what was asked for; None where all that is committed may be drawn."""
    from harness.store.trial import trials_behind

    if not overrides and cohort is None:
        return None
    return {trial.key for trial in trials_behind(tasks, profile, overrides, cohort)}


def _verify(
    library: Library,
    profile: Profile,
    experiments: Sequence[Experiment],
    *,
    num: int,
    means: Means,
    which: Mapping[str, Any],
) -> tuple[list[Verification], Summary]:
    """Draw, run and compare; return the outcomes in the order of the draw, and how it ended.

    which: of an experiment's records may be drawn, as `draw_trials` takes it.
    """
    from harness.run.plan import probe_limits
    from harness.run.progress import make_progress
    from harness.run.rerun import Committed, Rerun, draw_trials

    facts, committed = run_facts(), Committed(find_workspace(), profile)
    found = _with_records(committed, experiments, which["among"])
    commit = facts["commit"]
    drawn = [d for e in found for d in draw_trials(committed, e, num, commit=commit, **which)]
    rerun = Rerun(library, committed, drawn, facts=facts, progress=make_progress())
    plan = rerun.plan(probe_limits())
    say(
        f"trials to verify: {len(drawn)}; to run, with those they start from: {plan.num_to_run},"
        f" about {time_told(plan.seconds, 'core-')}"
    )
    # In this very process an exception is the only way to stop a trial.
    inline = means.executor == "inline"
    summary = rerun.carry_out(
        plan,
        means.start(plan),
        on_start=lambda runner: stop_cleanly_on_signals(None if inline else runner),
    )
    return rerun.outcomes, summary


def _with_records(
    committed: Committed, experiments: Sequence[Experiment], among: set[str] | None
) -> list[Experiment]:
    """Return those that have such committed records. Raises UsageError where none has."""
    found = [each for each in experiments if committed.keys(each, among)]
    if not found:
        raise UsageError(
            f"no record is committed at {committed.profile} for what is selected: name another"
            " profile, or run it first"
        )
    without = [experiment.id for experiment in experiments if experiment not in found]
    if without:
        say(f"without committed records at {committed.profile}: {', '.join(without)}")
    return found


def chosen_experiments(
    library: Library, tasks: Sequence[Task], names: Sequence[str]
) -> list[Experiment]:
    """Return the experiments that the tasks read, or those named, which they may start from."""
    if not names:
        return list(dict.fromkeys(experiment for task in tasks for experiment in task.reads))
    behind = experiments_of(tasks)
    named = [library.experiments.find(name) for name in dict.fromkeys(names)]
    for experiment in named:
        if experiment not in behind:
            raise UsageError(
                f"--experiment {experiment.id}: no selected task reads it or starts from it"
            )
    return named


def summary_lines(outcomes: Sequence[Verification]) -> list[str]:
    """Return one line per experiment, then one for each trial that differs or was not run.

    They fit 80 columns: both processors stand in a line of their own where they are long.
    """
    groups: dict[str, list[Verification]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.experiment, []).append(outcome)
    width = max(map(len, groups), default=0)
    lines = []
    for name, group in groups.items():
        counts, cpus = f"{name:{width}}  {_counts(group)}", _processors(group)
        line = f"{counts}  {cpus}"
        lines += [line] if len(line) <= WIDTH else [counts, f"  {cpus}"]
    for outcome in outcomes:
        if not outcome.agrees:
            lines += _detail(outcome)
    return lines


def _counts(group: Sequence[Verification]) -> str:
    """Say how many agree, and how: `3 of 3 agree (1 bit, 2 close)`."""
    words = Counter(outcome.outcome for outcome in group)
    not_run = words.pop("not_run", 0)
    how = ", ".join(f"{words[word]} {word}" for word in ("bit", "close", "spread") if words[word])
    ran, agreed = sum(words.values()), sum(outcome.agrees for outcome in group)
    counts = [f"{agreed} of {ran} agree" + (f" ({how})" if how else "")] if ran else []
    return ", ".join([*counts, f"{not_run} not run"] if not_run else counts)


def _processors(group: Sequence[Verification]) -> str:
    from harness.measure.machine import cpu_name

    then = dict.fromkeys(cpu_name(outcome.record_machine) for outcome in group)
    return f"{' and '.join(then)} -> {cpu_name(group[0].machine)}"


def _detail(outcome: Verification) -> list[str]:
    word = outcome.outcome.replace("_", " ")
    moved = f"{outcome.column} by {outcome.relative:.2g} relative" if outcome.column else ""
    reason = "; ".join(part for part in (moved, outcome.reason) if part)
    text = f"{word}: {outcome.trial}: {reason}"
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _conclude(summary: Summary, outcomes: Sequence[Verification]) -> None:
    """Say what is left; exit with the code of a run that ended that way."""
    if summary.interrupted:
        say("interrupted: what was compared is kept, what was not is drawn again at this commit")
        raise typer.Exit(INTERRUPTED)
    if summary.failed:
        first = summary.failed[0]
        say(f"{len(summary.failed)} of {summary.num_run} failed, the first: {first.note}")
        raise typer.Exit(3)
    if outcomes:
        say("every outcome is kept in results/PAPER/verify: commit it, also where it differs")
