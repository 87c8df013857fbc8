"""Golden trials: short runs of every experiment, and what breaks each of them on purpose.

A golden trial takes at most three optimizer steps and computes in float64, so that its rows are
those of any CPU: instruction sets add in another order, which float64 loses far behind the
tolerance, and three steps do not bring back. It runs in this process, on bundled data, by the
experiment's own `run`; the trials it starts from are golden trials too.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from safetensors.torch import load_file
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook
from torch.overrides import TorchFunctionMode

from harness.declare.experiment import Experiment, Outcome, RawParams
from harness.declare.params import Params, Scalar
from harness.errors import SpecError
from harness.registry import Library
from harness.run.executors.context import TrialContext
from harness.store.record import plain_rows
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from tests.golden_rows import Body
from tests.patches import Mutation, Patch, patched

Point = dict[str, Scalar]

MAX_STEPS = 3
"""What a rounding error grows to over so few steps stays far within the tolerance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Short:
    """One golden trial: the first point of the smoke grid that fits, with some fields replaced."""

    of: Point = field(default_factory=dict)
    """Fields by which the point is found."""
    to: Point = field(default_factory=dict)
    """Fields that make it short; it has all of them."""

    def fits(self, point: RawParams) -> bool:
        return all(name in point and point[name] == value for name, value in self.of.items())

    def cut(self, point: RawParams) -> Point:
        """Return a point made short, any one, as a trial that starts from it needs it."""
        return {name: self.to.get(name, value) for name, value in point.items()}

    def point(self, experiment: Experiment) -> Point:
        """Return the golden point. Fails where no point fits, or one lacks a replaced field."""
        found = next((p for p in experiment.params_of("smoke") if self.fits(p)), None)
        assert found is not None, f"{experiment.id} has no smoke point with {self.of}"
        assert self.to.keys() <= found.keys(), f"{experiment.id}: no fields {self.to} in {found}"
        return self.cut(found)


@dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """The golden trials of one experiment."""

    experiment: str
    """Its id."""
    points: tuple[Short, ...]
    mutation: Mutation
    max_steps: int = MAX_STEPS
    """Steps of one optimizer at most."""
    double: bool = True
    """Whether all that asks for float32 gets float64; not where bytes are counted."""
    patches: tuple[Patch, ...] = ()
    """What is replaced besides: it would keep a trial long, from float64, or on a tie."""


def golden(
    experiment: str, mutation: Mutation, *points: Short, max_steps: int = MAX_STEPS,
    double: bool = True, patches: tuple[Patch, ...] = (),
) -> Golden:  # fmt: skip
    """Return an experiment's golden trials; the first point as it stands where none is named."""
    return Golden(
        experiment=experiment, points=points or (Short(),), mutation=mutation, max_steps=max_steps,
        double=double, patches=patches,
    )  # fmt: skip


def declared_golden() -> dict[str, Golden]:
    """Return all golden trials by their experiment, as `golden.py` of each paper's tests has them.

    Fails where two of them are of one experiment.
    """
    papers = sorted((Path(__file__).parent / "reproductions").glob("*/golden.py"))
    modules = [import_module(f"tests.reproductions.{path.parent.name}.golden") for path in papers]
    every = [golden for module in modules for golden in module.GOLDEN]
    found = {golden.experiment: golden for golden in every}
    assert len(found) == len(every), "an experiment's golden trials are declared twice"
    return found


class Finished:
    """A trial that ran here, as a run sees its upstream."""

    def __init__(self, outcome: Outcome, folder: Path) -> None:
        self.outcome = outcome
        self.rows = plain_rows(outcome.rows)[0]
        self._folder = folder

    def load(self, name: str) -> dict[str, torch.Tensor]:
        return load_file(self._folder / name)


class GoldenRuns:
    """Runs golden trials; one that others start from is run once."""

    def __init__(self, library: Library, declared: Mapping[str, Golden], folder: Path) -> None:
        """Take where artifacts may lie."""
        self._library, self._declared, self._folder = library, declared, folder
        self._kept: dict[str, Finished] = {}
        self._bodies: dict[str, Body] = {}

    def body(self, name: str) -> Body:
        """Return what belongs into an experiment's golden file."""
        if name not in self._bodies:
            self._bodies[name] = self._body(name)
        return self._bodies[name]

    def broken_body(self, name: str) -> Body:
        """Return the same where the method is broken; what trials start from is whole."""
        return self._body(name, self._declared[name].mutation)

    def _body(self, name: str, *broken: Mutation) -> Body:
        experiment = self._library.experiments[name]
        measured = {
            column.name
            for task in self._library.tasks_of(experiment)
            for column in task.table.columns
            if column.role == "measurement"
        } | {"testbed"}  # which one is at hand depends on the machine
        trials = []
        for short in self._declared[name].points:
            trial = Trial(experiment, short.point(experiment), "smoke")
            done = self._run(trial, *broken)
            rows = [{k: v for k, v in row.items() if k not in measured} for row in done.rows]
            status = done.outcome.status.value
            trials.append({"params": dict(trial.params), "status": status, "rows": rows})
        return {"experiment": experiment.id, "version": experiment.version, "trials": trials}

    def _upstream(self, trial: Trial) -> Finished:
        """Return the short form of a trial that another one starts from."""
        golden = self._declared[trial.experiment.id]
        short = next((each for each in golden.points if each.fits(trial.params)), Short())
        cut = Trial(trial.experiment, short.cut(trial.params), trial.profile)
        if cut.key not in self._kept:
            self._kept[cut.key] = self._run(cut)
        return self._kept[cut.key]

    def _run(self, trial: Trial, *broken: Mutation) -> Finished:
        golden = self._declared[trial.experiment.id]
        # A folder each: a broken trial must not leave its artifacts to others.
        store = RecordStore(Workspace(Path(tempfile.mkdtemp(dir=self._folder))))
        starts = [self._upstream(source) for source in trial.upstream]
        with ExitStack() as stack:
            stack.enter_context(bundled_data_alone())
            stack.enter_context(at_most(golden.max_steps))
            stack.enter_context(in_double() if golden.double else nullcontext())
            for patch in (*golden.patches, *broken):
                stack.enter_context(patched(patch))
            point = trial.experiment.typed(trial.params)
            result = trial.experiment.code(point, _Context(trial, store, starts))
        outcome = result if isinstance(result, Outcome) else Outcome(rows=result)
        return Finished(outcome, store.artifact_folder(trial))


class _Context(TrialContext):
    """A worker's context, but for upstream trials, which ran here and left no record."""

    def __init__(self, trial: Trial, store: RecordStore, starts: Sequence[Finished]) -> None:
        super().__init__(trial, store, trial.profile)
        self._starts = list(zip(trial.upstream, starts, strict=True))

    def upstream(self, experiment: Experiment, point: Params) -> Finished:  # type: ignore[override]
        params = point.to_json()
        for source, finished in self._starts:
            if source.experiment is experiment and dict(source.params) == params:
                return finished
        raise SpecError(f"{experiment.id} with {params} is not declared in uses")


@contextmanager
def bundled_data_alone() -> Iterator[None]:
    """Hide what is staged on this machine, and undo what a run changes in the environment."""
    with mock.patch.dict(os.environ):
        os.environ.pop("REPRO_DATA", None)
        yield


@contextmanager
def at_most(max_steps: int) -> Iterator[None]:
    """Fail where an optimizer takes more steps."""
    counts: Counter[Optimizer] = Counter()
    hook = register_optimizer_step_post_hook(lambda stepped, *_: counts.update([stepped]))
    try:
        yield
    finally:
        hook.remove()
    assert max(counts.values(), default=0) <= max_steps, f"{counts.values()} steps"


@contextmanager
def in_double() -> Iterator[None]:
    """Compute in float64: where nothing else is asked for, and where float32 is."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with _Widened():
            yield
    finally:
        torch.set_default_dtype(before)


class _Widened(TorchFunctionMode):
    """Gives float64 to whoever asks for float32, in this thread."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        wide = [torch.float64 if one is torch.float32 else one for one in args]
        named = {n: torch.float64 if v is torch.float32 else v for n, v in (kwargs or {}).items()}
        return func(*wide, **named)
