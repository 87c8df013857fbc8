"""A trial: one point of an experiment's grid, identified by what determines its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from harness.canonical import digest
from harness.data.load import data_hash
from harness.declare.experiment import Experiment, Needs, RawParams, describe_trial
from harness.declare.overrides import SEEDS, Overrides
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import SpecError, UsageError, nearest
from harness.store.seeds import derive_seed

MAX_TRIALS = 100_000
"""Of one experiment at a profile: each is a file, a row, and some hundred bytes of a plan."""


@dataclass(frozen=True)
class Trial:
    """One point of a grid. Equal keys mean equal results, whatever profile asked for them."""

    experiment: Experiment
    params: Mapping[str, Scalar]
    profile: Profile

    @cached_property
    def needs(self) -> Needs:
        return self.experiment.needs_of(self.params)

    @cached_property
    def upstream(self) -> tuple[Trial, ...]:
        """The trials this one starts from."""
        above = self.experiment.upstream_of(self.params)
        return tuple(Trial(experiment, params, self.profile) for experiment, params in above)

    @property
    def data(self) -> dict[str, str]:
        """Content hash per data set it reads, from the catalogue."""
        return {name: data_hash(name) for name in self.needs.data}

    @cached_property
    def key(self) -> str:
        """SHA-256 over all that determines the result; source text is not part of it."""
        return trial_key(
            experiment=self.experiment.id,
            version=self.experiment.version,
            params=dict(self.params),
            upstream=[trial.key for trial in self.upstream],
            data=self.data,
            device=self.needs.device,
        )

    @cached_property
    def name(self) -> str:
        return describe_trial(self.experiment, self.params)

    def seed(self, stream: str) -> int:
        """Return a stream's seed. Raises SpecError if `seed_from` names no parameter."""
        missing = [name for name in self.experiment.seed_from if name not in self.params]
        if missing:
            raise SpecError(f"{self.name}: seed_from names {missing}, which are no parameters")
        return derive_seed(stream, {name: self.params[name] for name in self.experiment.seed_from})


def trial_key(
    *,
    experiment: str,
    version: int,
    params: Mapping[str, Scalar],
    upstream: Sequence[str],
    data: Mapping[str, str],
    device: str,
) -> str:
    """Return the key of a trial from what determines its result, as a record tells it too.

    data: content hash by name. The profile is no part of it: any may ask for the same trial.
    """
    return digest(
        {
            "experiment": experiment,
            "version": version,
            "params": params,
            "upstream": upstream,
            "data": data,
            "device": device,
        }
    )


def with_upstream(trial: Trial) -> Iterator[Trial]:
    """Yield a trial's whole chain of upstream trials, the first one first, and then itself."""
    for source in trial.upstream:
        yield from with_upstream(source)
    yield trial


def grid_of(
    experiment: Experiment, profile: Profile, overrides: Mapping[str, Scalar] | None = None
) -> list[Trial]:
    """Return the trials of a profile, in the grid's order, with overrides applied.

    An override replaces a parameter in every point that has it; points that become equal are
    kept once. `seeds=N` is special: the grid is repeated for the seeds 0 to N-1.
    Raises UsageError where N is no count or makes too many trials.
    """
    return list(cached_grid(experiment, profile, Overrides(overrides)))


@cache
def cached_grid(experiment: Experiment, profile: Profile, overrides: Overrides) -> list[Trial]:
    """Return a grid, once per process: its trials keep their keys."""
    changes = dict(overrides)
    num_seeds = changes.pop(SEEDS, 0)
    if SEEDS in overrides and (type(num_seeds) is not int or num_seeds < 1):
        raise UsageError(f"seeds={num_seeds}: need a whole number of at least 1")
    seeds = range(min(int(num_seeds), MAX_TRIALS + 1))
    found: dict[str, list[Trial]] = {}
    num_trials = 0
    for point in experiment.params_of(profile):
        changed = _overridden(experiment, point, changes)
        is_repeated = bool(seeds) and "seed" in changed
        first = repr({**changed, "seed": 0} if is_repeated else changed)
        if first in found:
            continue
        num_trials += len(seeds) if is_repeated else 1
        # Before any list is made: a number with a zero too many would fill the memory.
        if num_trials > MAX_TRIALS:
            raise UsageError(
                f"{experiment.id} at {profile}: that would be more than {MAX_TRIALS} trials, which"
                " is what can be planned: ask for fewer seeds"
            )
        points = [{**changed, "seed": n} for n in seeds] if is_repeated else [changed]
        found[first] = [Trial(experiment, each, profile) for each in points]
    return [trial for trials in found.values() for trial in trials]


def _overridden(
    experiment: Experiment, point: RawParams, overrides: Mapping[str, Scalar]
) -> dict[str, Scalar]:
    """Return a point with the overrides of parameters that it has, at a default too.

    Raises UsageError for a value of another type, or none of the parameter's choices.
    """
    fields = experiment.typed(point).fields() if overrides else ()
    changed = {f.name: f.written(overrides[f.name]) for f in fields if f.name in overrides}
    try:
        return experiment.typed({**point, **changed}).to_json() if changed else dict(point)
    except SpecError as error:
        raise UsageError(f"--set: {error}") from error


def trials_behind(
    tasks: Sequence[Task], profile: Profile, overrides: Mapping[str, Scalar] | None = None
) -> list[Trial]:
    """Return the trials that some tasks show, and those that they start from, each once.

    Upstream trials come first.
    """
    experiments = dict.fromkeys(experiment for task in tasks for experiment in task.reads)
    return each_with_upstream(
        trial for each in experiments for trial in grid_of(each, profile, overrides)
    )


def each_with_upstream(trials: Iterable[Trial]) -> list[Trial]:
    """Return some trials and those that they start from, each once, upstream ones first."""
    found: dict[str, Trial] = {}
    for trial in trials:
        found |= {each.key: each for each in with_upstream(trial) if each.key not in found}
    return list(found.values())


def check_overrides(tasks: Sequence[Task], overrides: Mapping[str, Scalar]) -> None:
    """Raise UsageError for a parameter that no trial of the tasks has, or a value that none takes.

    By the fields of their parameters: no grid is walked.
    """
    experiments = dict.fromkeys(experiment for task in tasks for experiment in task.reads)
    fields = [field for e in experiments for cls in e.classes for field in cls.fields()]
    known = {field.name for field in fields}
    for name, value in overrides.items():
        if name not in known and not (name == SEEDS and "seed" in known):
            hint = nearest(name, known) or f": known are {', '.join(sorted(known))}"
            raise UsageError(f"--set {name}: no trial has that parameter{hint}")
        refused = [each.refusal(each.written(value)) for each in fields if each.name == name]
        if refused and all(refused):
            raise UsageError(f"--set {refused[0]}")
