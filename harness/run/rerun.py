"""Committed trials that are run again, in a folder of their own, and what comes of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.data import load as datasets
from harness.declare.experiment import Estimate, Experiment
from harness.declare.overrides import Overrides
from harness.declare.profiles import Profile
from harness.executors.job import Executor, Report
from harness.provenance.agreement import Comparison, compare
from harness.provenance.before import load_before
from harness.provenance.spread import Tables, spread_of
from harness.provenance.verify import (
    Verification,
    draw,
    keep_verification,
    load_verifications,
    measured_columns,
    stale_keys,
)
from harness.registry import Library
from harness.run.plan import Action, MachineLimits, Plan, PlannedTrial, lacking
from harness.run.progress import Progress
from harness.run.runner import Runner, Summary
from harness.run.trial import Trial, all_trials, with_upstream
from harness.store.record import Record, read_pack
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from harness.untrusted import is_there


class Committed:
    """The committed records of a profile; each file is read once, when it is asked for."""

    def __init__(self, workspace: Workspace, profile: Profile) -> None:
        self.workspace, self.profile = workspace, profile
        self._packs: dict[str, dict[str, Record]] = {}
        self._grids: dict[str, dict[str, Trial]] = {}

    def records(self, experiment: Experiment) -> dict[str, Record]:
        """Return an experiment's records by key; none where it has no file."""
        if experiment.id not in self._packs:
            path = RecordStore(self.workspace).pack_path(experiment.id, self.profile)
            found = read_pack(path) if is_there(path) else ()
            self._packs[experiment.id] = {record.key: record for record in found}
        return self._packs[experiment.id]

    def keys(self, experiment: Experiment, among: Set[str] | None = None) -> set[str]:
        """Return the keys of an experiment's records, of those `among` where that is given."""
        keys = set(self.records(experiment))
        return keys if among is None else keys & among

    def grid(self, experiment: Experiment) -> dict[str, Trial]:
        """Return the trials that the experiment declares, all cohorts, by key."""
        if experiment.id not in self._grids:
            trials = all_trials(experiment, self.profile)
            self._grids[experiment.id] = {trial.key: trial for trial in trials}
        return self._grids[experiment.id]

    def find(self, trial: Trial) -> Record | None:
        """Return a trial's record; None where it has none."""
        return self.records(trial.experiment).get(trial.key)

    def trial(self, experiment: Experiment, record: Record) -> Trial:
        """Return a record's trial; some that others start from lie outside the grid."""
        declared = self.grid(experiment).get(record.key)
        return declared or Trial(experiment, dict(record.params), self.profile)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A committed record, and its trial as it is declared now."""

    trial: Trial
    record: Record


def draw_trials(
    committed: Committed,
    experiment: Experiment,
    num: int,
    *,
    commit: str,
    only_stale: bool = False,
    among: Set[str] | None = None,
) -> list[Drawn]:
    """Return `num` of an experiment's committed trials, or all where there are fewer.

    A hash of commit, experiment and key draws them; only_stale: from the records of older code;
    among: from those with these keys.
    Raises DataError where the outcomes that are kept are damaged: this must be seen before
    hours are spent on what cannot be added to them.
    """
    load_verifications(committed.workspace, experiment.id, committed.profile)
    records = committed.records(experiment)
    keys = committed.keys(experiment, among)
    if only_stale:
        before = load_before(committed.workspace.root, experiment.paper)
        keys &= stale_keys(experiment, records.values(), before)
    return [
        Drawn(committed.trial(experiment, records[key]), records[key])
        for key in draw(keys, num, commit=commit, experiment_id=experiment.id)
    ]


def obstacle(drawn: Drawn, limits: MachineLimits) -> str:
    """Return why a trial cannot be run again here, without naming a folder; or nothing."""
    for trial in with_upstream(drawn.trial):
        absent = [name for name in trial.needs.data if datasets.available(name) is None]
        # What the catalogue says of a missing set names the folder where it looked.
        lack = f"needs the data set {absent[0]}" if absent else lacking(trial.needs, limits)
        if lack:
            return lack if trial is drawn.trial else f"{trial.name} {lack}"
    if drawn.trial.key == drawn.record.key:
        return ""
    then, now = drawn.record.version, drawn.trial.experiment.version
    if then != now:
        return f"it is of version {then} of its experiment, which is at {now}"
    if drawn.record.upstream != [source.key for source in drawn.trial.upstream]:
        return "it started from trials that are no longer those declared"
    return "its data are no longer those of the catalogue"


class Rerun:
    """Runs what was drawn; compares and keeps each trial as it ends.

    It is the `Progress` of its own run: that is how it learns of an end.
    """

    def __init__(
        self,
        library: Library,
        committed: Committed,
        drawn: Sequence[Drawn],
        *,
        facts: Mapping[str, Any],
        progress: Progress,
    ) -> None:
        """facts: commit, dirty, versions and machine, as records of a run have them."""
        self.library, self.committed, self.profile = library, committed, committed.profile
        self.facts, self.progress = dict(facts), progress
        self.open = {each.record.key: each for each in drawn}
        self.outcomes: list[Verification] = []
        self._order = {each.record.key: number for number, each in enumerate(drawn)}
        self._tables = Tables(committed.find, self.profile)
        self._store: RecordStore

    def plan(self, limits: MachineLimits) -> Plan:
        """Return what is to run, upstream first; keep at once what cannot run here."""
        plan = Plan((), self.profile, Overrides())
        for drawn in list(self.open.values()):
            if reason := obstacle(drawn, limits):
                self._keep(drawn, Comparison(outcome="not_run", reason=reason), wall_s=0.0)
                continue
            for trial in with_upstream(drawn.trial):
                item = PlannedTrial(
                    trial=trial,
                    action=Action.RUN,
                    reason="it is run again",
                    estimate=self._estimate(trial),
                )
                plan.items.setdefault(trial.key, item)
        return plan

    def _estimate(self, trial: Trial) -> Estimate:
        record = self.committed.find(trial)
        return Estimate(seconds=record.provenance.wall_s if record else 0.0)

    def carry_out(
        self, plan: Plan, executor: Executor, *, on_start: Callable[[Runner], None]
    ) -> Summary:
        """Run a plan in a temporary checkout; an interrupt ends it, what is compared is kept.

        on_start: gets the runner before it runs, to stop it.
        """
        # A trial's own child may outlive it by a moment, and must not spoil the end.
        with TemporaryDirectory(prefix="repro-verify-", ignore_cleanup_errors=True) as folder:
            self._store = RecordStore(Workspace(Path(folder)))
            facts = {**self.facts, "overrides": {}}
            runner = Runner(plan, self._store, self.library, executor, self, facts=facts)
            on_start(runner)
            summary = runner.run()
            # Those that ended without a word: just before an interrupt, or their upstream failed.
            for key in list(self.open):
                self._take(key)
        self.outcomes.sort(key=lambda outcome: self._order[outcome.key])
        return summary

    def start(self, items: Sequence[PlannedTrial]) -> None:
        self.progress.start(items)

    def finished(self, trial: Trial, report: Report) -> None:
        self.progress.finished(trial, report)
        self._take(trial.key)

    def stop(self) -> None:
        self.progress.stop()

    def _take(self, key: str) -> None:
        """Compare and keep a drawn trial that has a record now."""
        drawn = self.open.get(key)
        new = self._store.read(drawn.trial) if drawn else None
        if drawn is None or not isinstance(new, Record):
            return
        tasks = self.library.tasks_of(drawn.trial.experiment)
        comparison = compare(
            drawn.record,
            new,
            measured=measured_columns(tasks),
            spread=lambda: spread_of(tasks, self._tables, new),
        )
        self._keep(drawn, comparison, wall_s=new.provenance.wall_s)

    def _keep(self, drawn: Drawn, comparison: Comparison, *, wall_s: float) -> None:
        outcome = Verification(
            experiment=drawn.record.experiment,
            profile=self.profile,
            key=drawn.record.key,
            trial=drawn.trial.name,
            commit=self.facts["commit"],
            dirty=self.facts["dirty"],
            record_commit=drawn.record.provenance.commit,
            machine=_without_load(self.facts["machine"]),
            record_machine=_without_load(drawn.record.provenance.machine),
            outcome=comparison.outcome,
            reason=comparison.reason,
            relative=comparison.relative,
            column=comparison.column,
            wall_s=wall_s,
            at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        )
        keep_verification(self.committed.workspace, outcome, self.profile)
        self.outcomes.append(outcome)
        del self.open[outcome.key]


def _without_load(machine: dict[str, Any]) -> dict[str, Any]:
    # The load is a fact of a moment, not of a machine.
    return {name: value for name, value in machine.items() if name != "load_average"}
