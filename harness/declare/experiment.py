"""What is run: an experiment, its grid, what a run is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from harness.declare.named import Named, With, declaring_package, named
from harness.declare.params import Params, Scalar
from harness.declare.profiles import Profile, check_id
from harness.errors import HarnessError, SpecError
from harness.untrusted import in_one_line

if TYPE_CHECKING:
    import torch

    from harness.data.codec import Content

RawParams = Mapping[str, Scalar]
"""Parameters as a key and a record hold them."""
TIMES = 4
"""How many times as long as it is estimated to take a trial may run before it is killed."""
Row = Mapping[str, Scalar | None]
Device = Literal["cpu", "cuda"]


class Status(StrEnum):
    """How a trial ended; the first three are results, the others are tried again."""

    DONE = "done"
    DIVERGED = "diverged"
    OOM = "oom"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def is_result(self) -> bool:
        return self in (Status.DONE, Status.DIVERGED, Status.OOM)


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What a trial asks of the machine; what is lacking makes it NOT_RUN, with that reason."""

    data: tuple[str, ...] = ()
    """Names in the data catalogue; their content hashes enter the trial's key."""
    device: Device = "cpu"
    """Device class; it enters the trial's key."""
    gpu_bytes: int = 0
    """Free GPU memory needed."""
    memory_bytes: int = 0
    """Main memory needed."""
    packages: tuple[str, ...] = ()
    """Importable modules needed beyond the core dependencies."""
    judge: bool = False
    """Whether it calls a judge model, configured by environment."""
    exclusive: bool = False
    """Nothing else of this runner runs beside it: every timing trial."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """What one trial is expected to cost on one core of an ordinary machine."""

    seconds: float
    memory_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class DryRun:
    """What `--dry-run` learns of a trial without computing it."""

    num_params: int
    """Parameters counted on the model built on the meta device."""
    expected_num_params: int
    """Parameters by the closed form; a difference is an error."""
    memory_bytes: int
    """Parameters, gradients, optimizer states and saved activations of one step."""
    step_flops: int
    """Floating-point operations of one step's matrix products, forward and backward. Fused
    attention counts as far as torch counts it, which on a CPU is not at all."""
    num_steps: int
    """Optimizer steps of the trial."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a run returns when rows alone do not say it."""

    rows: Sequence[Row]
    status: Status = Status.DONE
    """DONE, DIVERGED or OOM; a failure is an exception, never an outcome."""
    note: str = ""
    """One line for the record: what diverged, and where."""


class UpstreamResult(Protocol):
    """Another experiment's finished trial, as a run sees it."""

    @property
    def rows(self) -> Sequence[Row]: ...
    def load(self, name: str) -> dict[str, torch.Tensor]:
        """Return a tensor artifact; its SHA-256 was checked."""
        ...


class RunContext(Protocol):
    """What the harness hands to a run: everything that is not a parameter."""

    profile: Profile
    device: Device

    def seed(self, stream: str) -> int:
        """Return the seed of a named random stream; it depends on `seed_from` alone."""
        ...

    def dataset(self, name: str) -> Content:
        """Return a data set that the trial declared in its needs, its hash checked."""
        ...

    def save(self, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Keep tensors as an artifact `name` (ending in .safetensors) of this trial."""
        ...

    def upstream(self, experiment: Experiment, point: Params) -> UpstreamResult:
        """Return a trial of an experiment named in `uses`."""
        ...

    def checkpoint_path(self) -> Path:
        """Return where a long trial may keep its state; removed when its result is written."""
        ...


RunResult = Outcome | Sequence[Row]
Grid = Callable[[Profile], Iterable[Params]]
Classes = type[Params] | tuple[type[Params], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """An experiment whose trial this one starts from."""

    experiment: Experiment
    params: Callable[[Any], Params]
    """From the parameters of the trial to those of its upstream trial."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Together:
    """How trials that differ in little are run in one go, each with a record of its own."""

    run: str | With
    """`module:name` of a function of parameters and contexts, a list of each, that returns of each
    trial what `run` would, but for rounding, whatever becomes of the others."""
    apart: tuple[str, ...]
    """Parameters in which trials of one go may differ."""
    profiles: tuple[Profile, ...]
    """Where trials go together; in a rehearsal of one of these too."""

    def shared(self, params: RawParams) -> dict[str, Scalar]:
        """Return what is the same in all trials of one go."""
        return {name: value for name, value in params.items() if name not in self.apart}


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """Something that is run: a function, a version, a grid of trials per profile.

    Functions are named as `module:name` from the package that declares the experiment, with a
    leading dot from the package above it.
    """

    id: str
    """`<paper>/<name>`."""
    _: KW_ONLY
    version: int
    """Raised whenever the same parameters would give other rows; part of every key."""
    params: Classes
    """What a trial is told by: one class, or several whose fields tell them apart."""
    grid: Grid
    """Yields the parameters of a profile's trials; none where the profile has no grid."""
    run: str | With
    """`module:name` of a function of parameters and a `RunContext` that returns rows, or an
    `Outcome` where rows alone do not say it."""
    seed_from: tuple[str, ...] = ("seed",)
    """Parameters on which random streams depend."""
    needs: Needs | Callable[[Any], Needs] = field(default_factory=Needs)
    uses: tuple[Use, ...] = ()
    together: Together | None = None
    """None where each trial is run by itself."""
    estimate: Callable[[Any], Estimate] | None = None
    dry_run: str | With | None = None
    """`module:name` of a function of parameters that returns a `DryRun`, or None of a trial that
    trains nothing."""
    timeout_s: float = 3600.0
    """After this a trial is killed and recorded as failed; a longer one after its `limit_s`."""
    address: tuple[str, ...] = ()
    """Parameters that tell a grid's trials apart for a reader; all of them where empty."""
    stands_in: Callable[[Any], Mapping[str, str]] | None = None
    """From parameters to what was run in the place of what the paper names: {"SVHN": "MNIST"}."""
    package: str = field(default_factory=declaring_package)
    """From where functions are named; that of the module that declares it by default."""

    def __post_init__(self) -> None:
        check_id(self.id)
        if self.version < 1:
            raise SpecError(f"experiment {self.id}: version={self.version}, need at least 1")

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    def function(self, place: str | With) -> Named:
        """Return a function that the experiment names."""
        return named(place, self.package, where=f"experiment {self.id}")

    @property
    def code(self) -> Named:
        """The function that its trials run."""
        return self.function(self.run)

    def typed(self, params: RawParams) -> Any:
        """Return a point as its class. Raises SpecError unless it fits one."""
        refusals = []
        for each in self.classes:
            try:
                return each.from_json(params)
            except SpecError as error:
                refusals.append(error)
        raise SpecError(f"experiment {self.id}: {refusals[0]}") from refusals[0]

    @property
    def classes(self) -> tuple[type[Params], ...]:
        return self.params if isinstance(self.params, tuple) else (self.params,)

    def needs_of(self, params: RawParams) -> Needs:
        if isinstance(self.needs, Needs):
            return self.needs
        with self._asked("needs"):
            return self.needs(self.typed(params))

    def limit_s(self, params: RawParams) -> float:
        """Return after how many seconds a trial is killed: it hangs by then, if it is not slow."""
        estimate = self.estimate_of(params)
        return max(self.timeout_s, TIMES * estimate.seconds if estimate else 0.0)

    def estimate_of(self, params: RawParams) -> Estimate | None:
        """Return what a trial is expected to cost; None where nothing tells it."""
        if self.estimate is None:
            return None
        with self._asked("estimate"):
            return self.estimate(self.typed(params))

    def upstream_of(self, params: RawParams) -> list[tuple[Experiment, dict[str, Scalar]]]:
        """Return the experiments and parameters of the trials that a trial starts from."""
        if not self.uses:
            return []
        with self._asked("uses"):
            point = self.typed(params)
            return [(use.experiment, use.params(point).to_json()) for use in self.uses]

    def params_of(self, profile: Profile) -> list[dict[str, Scalar]]:
        """Return the profile's grid as plain dicts; empty where it has none.

        Raises SpecError for a repeated point, and where the grid itself raises.
        """
        with self._asked("grid"):
            points = [point.to_json() for point in self.grid(profile)]
        seen: set[tuple[tuple[str, Scalar], ...]] = set()
        for point in points:
            identity = tuple(sorted(point.items()))
            if identity in seen:
                raise SpecError(f"experiment {self.id}: {profile} repeats the point {point}")
            seen.add(identity)
        return points

    def has_grid(self, profile: Profile) -> bool:
        """Return whether a profile has a trial, without walking its grid."""
        with self._asked("grid"):
            return next(iter(self.grid(profile)), None) is not None

    @contextmanager
    def _asked(self, what: str) -> Iterator[None]:
        """Whatever a declared function raises is for its author to mend."""
        try:
            yield
        except HarnessError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {in_one_line(error)}"
            raise SpecError(f"experiment {self.id}: its {what} raises {reason}") from error


def describe_trial(experiment: Experiment, params: Mapping[str, Any]) -> str:
    """Return the address of a trial: `supar/lr_sweep[scheme=supar density=0.125 seed=3]`."""
    names = [name for name in experiment.address if name in params] or list(params)
    shown = (f"{name}={_short(params[name])}" for name in names)
    return f"{experiment.id}[{' '.join(shown)}]"


def _short(value: Scalar) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
