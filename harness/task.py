"""What a paper declares: experiments that are run, tasks that show them.

Declarations are data. This module imports neither torch nor pandas, so that every reading
verb of the CLI stays fast; what is heavy is imported inside `run`, `view` and `figure`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from harness.errors import SpecError
from harness.provenance.cohorts import FIRST, Cohort, check_numbers

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from matplotlib.figure import Figure

    from harness.claims import Claim
    from harness.datasets import Content
    from harness.figures import FigureContext

Scalar = bool | int | float | str
Params = Mapping[str, Scalar]
Row = Mapping[str, Scalar | None]
Profile = Literal["smoke", "cpu", "gpu", "paper"]
PROFILES: tuple[Profile, ...] = ("smoke", "cpu", "gpu", "paper")
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
    root: bool = False
    """Whether it must run as root (network namespaces)."""
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

    def upstream(self, experiment: Experiment, **params: Scalar) -> UpstreamResult:
        """Return a trial of an experiment named in `uses`."""
        ...

    def checkpoint_path(self) -> Path:
        """Return where a long trial may keep its state; removed when its record is written."""
        ...


RunResult = Outcome | Sequence[Row]
RunFunction = Callable[[Params, RunContext], RunResult]
BatchFunction = Callable[[Sequence[Params], Sequence[RunContext]], Sequence[RunResult]]
Grid = Callable[[], Iterable[Params]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """How trials of one shape are run together; members follow from the grid alone."""

    run: BatchFunction
    """Runs all members and returns one result per member, in order."""
    by: tuple[str, ...]
    """Parameters that all members of a batch share."""
    size: int
    """Most members in one batch."""
    profiles: tuple[Profile, ...] = PROFILES
    """Where batching was measured to be faster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """An experiment whose trial this one starts from."""

    experiment: Experiment
    params: Callable[[Params], Params]
    """From the parameters of the trial to those of its upstream trial."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Experiment:
    """Something that is run: a function, a version, a grid of trials per profile."""

    id: str
    """`<paper>/<name>`."""
    version: int
    """Raised whenever the same parameters would give other rows; part of every key."""
    run: RunFunction
    grid: Mapping[Profile, Grid]
    """Per profile a function that yields the trials' parameters; a profile may be absent."""
    cohorts: Mapping[Profile, tuple[Cohort, ...]] = field(default_factory=dict)
    """Per profile the seeds that the grid is repeated with, beyond its own."""
    seed_from: tuple[str, ...] = ("seed",)
    """Parameters on which random streams depend."""
    needs: Needs | Callable[[Params], Needs] = field(default_factory=Needs)
    uses: tuple[Use, ...] = ()
    batch: Batch | None = None
    estimate: Callable[[Params], Estimate] | None = None
    dry_run: Callable[[Params], DryRun] | None = None
    timeout_s: float = 3600.0
    """After this a trial is killed and recorded as failed."""
    address: tuple[str, ...] = ()
    """Parameters that tell a grid's trials apart for a reader; all of them where empty."""

    def __post_init__(self) -> None:
        check_id(self.id)
        if self.version < 1:
            raise SpecError(f"experiment {self.id}: version={self.version}, need at least 1")
        for profile, cohorts in self.cohorts.items():
            check_numbers(cohorts, where=f"experiment {self.id} at {profile}")

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    def needs_of(self, params: Params) -> Needs:
        return self.needs if isinstance(self.needs, Needs) else self.needs(params)

    def params_of(self, profile: Profile) -> list[dict[str, Scalar]]:
        """Return the profile's grid as plain dicts; empty where it has none.

        Raises SpecError for a repeated point, or a parameter that is not a JSON scalar.
        """
        grid = self.grid.get(profile)
        points = [dict(point) for point in grid()] if grid else []
        seen: set[tuple[tuple[str, Scalar], ...]] = set()
        for point in points:
            for name, value in point.items():
                if not isinstance(value, (bool, int, float, str)):
                    raise SpecError(
                        f"experiment {self.id}: parameter {name}={value!r} is not a JSON scalar"
                    )
            identity = tuple(sorted(point.items()))
            if identity in seen:
                raise SpecError(f"experiment {self.id}: {profile} repeats the point {point}")
            seen.add(identity)
        return points


ColumnType = Literal["int", "float", "str", "bool"]
Role = Literal["param", "seed", "value", "measurement"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column of a task's table."""

    name: str
    """Unit last, where there is one: `peak_bytes`, `step_ms`."""
    type: ColumnType
    role: Role
    """`measurement` marks what another run may change (times); the rest is byte-identical."""
    doc: str
    """What it holds, for the report."""
    nullable: bool = False
    """Whether a row may lack it (a diverged loss)."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A task's table: its columns in the order of the CSV."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise SpecError(f"a column is declared twice among {names}")
        if len([column for column in self.columns if column.role == "seed"]) > 1:
            raise SpecError(f"more than one seed column among {names}")

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def seed(self) -> str | None:
        """The column that holds the seed, or None for a deterministic table."""
        return next((c.name for c in self.columns if c.role == "seed"), None)

    @property
    def keys(self) -> list[str]:
        """The columns that identify a row."""
        return [c.name for c in self.columns if c.role in ("param", "seed")]


Frames = Mapping[str, "pd.DataFrame"]
Kind = Literal["table", "figure", "ablation", "kernel", "theory"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Task:
    """One table or figure of a paper: a view of experiments, its claims and its figure."""

    id: str
    """`<paper>/tabNN` or `<paper>/figNN` with the paper's number, or a word of our own."""
    title: str
    reads: tuple[Experiment, ...]
    """Every experiment whose rows the table shows."""
    columns: Columns
    claims: tuple[Claim, ...] = ()
    view: Callable[[Frames], pd.DataFrame] | None = None
    """From the long frames, by experiment id, to the table; the only frame as it is by default.
    A long frame has the trial's parameters, the run's values, and `status`."""
    figure: Callable[[FigureContext], Figure] | None = None
    caption: str = ""
    """Under the figure: what is drawn, which spread, over how many seeds."""
    alt: str = ""
    """The figure in words, for those who cannot see it."""
    kind: Kind | None = None
    """Taken from the id where it is tabNN or figNN; must be given for other ids."""

    def __post_init__(self) -> None:
        check_id(self.id)
        if self.kind is None:
            word = self.id.split("/")[1][:3]
            kinds: dict[str, Kind] = {"tab": "table", "fig": "figure", "abl": "ablation"}
            if word not in kinds:
                raise SpecError(f"task {self.id}: say its kind, the id does not tell it")
            object.__setattr__(self, "kind", kinds[word])
        if self.figure is not None and not self.alt:
            raise SpecError(f"task {self.id}: a figure needs alt text")
        cohorts = {c.name for e in self.reads for some in e.cohorts.values() for c in some}
        for claim in self.claims:
            if claim.cohort not in {FIRST, *cohorts}:
                raise SpecError(
                    f"task {self.id}: {claim.id} is judged by {claim.cohort}, which no experiment"
                    " that it reads declares"
                )
        ids = [claim.id for claim in self.claims]
        if len(set(ids)) != len(ids):
            raise SpecError(f"task {self.id}: a claim id repeats among {ids}")

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def number(self) -> str:
        """The paper's number, or an empty string for a task of our own."""
        word = self.id.split("/")[1]
        of_paper = word[:3] in ("tab", "fig") and word[3:].isdigit()
        return word[3:].lstrip("0") if of_paper else ""


def check_id(name: str) -> None:
    """Raise SpecError unless `name` reads `<paper>/<word>` in lower case."""
    paper, slash, word = name.partition("/")
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789_")
    if not (slash and paper and word and set(paper) <= allowed and set(word) <= allowed):
        raise SpecError(f"id {name!r}: need <paper>/<word> in lower case, digits and underscores")


def describe_trial(experiment: Experiment, params: Mapping[str, Any]) -> str:
    """Return the address of a trial: `supar/lr_sweep[scheme=supar density=0.125 seed=3]`."""
    names = [name for name in experiment.address if name in params] or list(params)
    shown = (f"{name}={_short(params[name])}" for name in names)
    return f"{experiment.id}[{' '.join(shown)}]"


def _short(value: Scalar) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
