"""Small experiments that run in the test's own process, and a way to run them.

`calls` lists what ran, in order; `faults` maps an address to what that trial raises.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.atomic import write_bytes
from harness.declare.experiment import (
    Experiment,
    Needs,
    Row,
    RunContext,
    Together,
    Use,
    describe_trial,
)
from harness.declare.params import Params, Scalar, doc, seed
from harness.declare.profiles import Profile
from harness.declare.table import Table, value
from harness.declare.task import Task
from harness.measure.fresh_process import call_fresh
from harness.outgoing import GuardedStream
from harness.registry import Library, experiments_of
from harness.run.executors.job import Executor
from harness.run.executors.worker import InlineExecutor
from harness.run.plan import MachineLimits, Plan, make_plan
from harness.run.progress import Progress
from harness.run.runner import Runner, Summary
from harness.store.record import Provenance, Record
from harness.store.store import RecordStore
from harness.store.trial import Trial

calls: list[str] = []
faults: dict[str, BaseException] = {}
LIMITS = MachineLimits(memory_bytes=2**34, has_cuda=False, gpu_bytes=0)
FACTS: dict[str, Any] = {"commit": "c0ffee", "dirty": False, "machine": {}, "versions": {}}


def note(experiment: Experiment, point: Params) -> None:
    address = describe_trial(experiment, point.to_json())
    calls.append(address)
    if address in faults:
        raise faults[address]


class Point(Params):
    x: int = doc("The number.")
    seed: int = seed("Nothing.")


def grid(profile: Profile) -> Iterator[Point]:
    if profile in ("smoke", "cpu"):
        for x in range(3):
            yield Point(x=x, seed=0)


def square(point: Point, ctx: RunContext) -> Sequence[Row]:
    note(SQUARES, point)
    return [{"y": float(point.x) ** 2}]


def needs(point: Point) -> Needs:
    return Needs(packages=tuple(os.environ.get("LAB_NEEDS", "").split()))


SQUARES = Experiment(
    "lab/squares", version=1, params=Point, grid=grid, run="inline_lab:square", needs=needs
)


def base(point: Point, ctx: RunContext) -> Sequence[Row]:
    import torch

    note(BASE, point)
    ctx.save("weights.safetensors", {"w": torch.full((4,), float(point.x))})
    return [{"y": float(point.x)}]


BASE = Experiment("lab/base", version=1, params=Point, grid=grid, run="inline_lab:base")


class Head(Params):
    x: int = doc("The number that it starts from.")
    k: int = doc("A number of its own.")
    seed: int = seed("Nothing.")


def base_of(head: Head) -> Point:
    return Point(x=head.x, seed=head.seed)


def head(point: Head, ctx: RunContext) -> Sequence[Row]:
    note(HEAD, point)
    upstream = ctx.upstream(BASE, base_of(point))
    total = upstream.load("weights.safetensors")["w"].sum().item()
    return [{"y": total + float(upstream.rows[0]["y"] or 0.0)}]


def head_grid(profile: Profile) -> Iterator[Head]:
    if profile in ("smoke", "cpu"):
        for x in range(2):
            yield Head(x=x, k=5, seed=0)


HEAD = Experiment(
    "lab/head",
    version=1,
    params=Head,
    grid=head_grid,
    run="inline_lab:head",
    uses=(Use(experiment=BASE, params=base_of),),
)


def root(point: Point, ctx: RunContext) -> Sequence[Row]:
    note(ROOTS, point)
    return [{"y": float(point.x) ** 0.5 if point.x >= 0 else float("nan")}]


def roots(points: Sequence[Point], contexts: Sequence[RunContext]) -> list[Sequence[Row]]:
    calls.append("one go")
    return [root(point, ctx) for point, ctx in zip(points, contexts, strict=True)]


ROOTS = Experiment(
    "lab/roots",
    version=1,
    params=Point,
    grid=lambda profile: [Point(x=x, seed=seed) for seed in range(2) for x in (0, 4, -1)],
    run="inline_lab:root",
    together=Together(run="inline_lab:roots", apart=("x",), profiles=("cpu",)),
)


class OddError(Exception):
    """An exception that cannot be carried to another process and built there again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


class Fate(Params):
    fate: str = doc("What happens to the trial.")
    number: int = doc("Tells trials of one fate apart.")
    seed: int = seed("Nothing.")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one try of a trial keeps, and how it ends."""

    keeps: str
    ends: BaseException | None


attempts: list[Attempt] = []


def keep_state(path: Path, attempt: Attempt) -> None:
    """Note the state that was found, keep another one, and end."""
    calls.append(path.read_text() if path.exists() else "nothing")
    if attempt.keeps:
        write_bytes(path, attempt.keeps.encode())
    if attempt.ends is not None:
        raise attempt.ends


def hang(*, place: str) -> None:
    (Path(place) / "hang").touch()
    time.sleep(600)


def lose_the_gpu() -> None:
    """Fail as a kernel does that writes where nothing is: CUDA says so ever after."""
    import torch

    def answer() -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    torch.cuda.is_initialized = lambda: True
    torch.cuda.synchronize = answer  # type: ignore[assignment]
    answer()


def meet_fate(point: Fate, ctx: RunContext) -> Sequence[Row]:
    """Do what the parameter says; for workers, which share no memory with the test."""
    match point.fate:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "odd exception":
            raise OddError(1, 2)
        case "hang":
            (ctx.checkpoint_path().parents[2] / "hang").touch()
            time.sleep(600)
        case "hang afresh":
            call_fresh(hang, {"place": str(ctx.checkpoint_path().parents[2])})
        case "keeps its state":
            keep_state(ctx.checkpoint_path(), attempts.pop(0))
        case "lose the GPU":
            lose_the_gpu()
        case "infinite":
            return [{"y": float("inf")}]
        case "environment":
            return [
                {
                    "threads": os.environ["OMP_NUM_THREADS"],
                    "wait": os.environ["OMP_WAIT_POLICY"],
                    "sigint": "ignored"
                    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN
                    else "not",
                    "token": os.environ["HF_TOKEN"],
                    "guarded": isinstance(sys.stderr, GuardedStream),
                    "blocked": signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()),
                }
            ]
    return [{"y": 1.0}]


def fates_grid(profile: Profile) -> Iterator[Fate]:
    if profile == "cpu":
        for fate in ("ok", "well"):
            yield Fate(fate=fate, number=0, seed=0)


FATES = Experiment("lab/fates", version=1, params=Fate, grid=fates_grid, run="inline_lab:meet_fate")


def task_of(experiment: Experiment, word: str) -> Task:
    table = Table.of(Point, value("y", float, "What came out.", nullable=True))
    return Task(f"lab/{word}", reads=(experiment,), table=table, own_kind="table")


EXPERIMENTS = {"squares": SQUARES, "base": BASE, "head": HEAD, "fates": FATES, "roots": ROOTS}
TASKS = {word: task_of(experiment, word) for word, experiment in EXPERIMENTS.items()}
task = Task(
    "lab/all",
    reads=tuple(EXPERIMENTS.values()),
    table=Table.of(value("y", float, "What came out.")),
    own_kind="table",
)
"""Through which a worker finds the experiments of this module."""


def make_library() -> Library:
    library = Library()
    for task in TASKS.values():
        library.tasks[task.id] = task
        library.modules[task.id] = __name__
        for experiment in experiments_of([task]):
            library.experiments[experiment.id] = experiment
    return library


class Silent(Progress):
    """A progress that says nothing, and calls back after each trial."""

    def __init__(self, after: Callable[[Trial], None] = lambda trial: None) -> None:
        self.after = after

    def start(self, num_trials: int) -> None: ...

    def finished(self, trial: Trial, report: Any) -> None:
        self.after(trial)


def plan_of(
    store: RecordStore,
    *words: str,
    profile: Profile = "cpu",
    overrides: Mapping[str, Scalar] | None = None,
    **options: Any,
) -> Plan:
    return make_plan(
        [TASKS[word] for word in words], profile, overridden(store, overrides), LIMITS, **options
    )


def overridden(store: RecordStore, overrides: Mapping[str, Scalar] | None) -> RecordStore:
    """Return the same records for a variant."""
    return RecordStore(store.workspace.with_overrides(overrides or {}))


def carry_out(
    store: RecordStore,
    plan: Plan,
    *,
    executor: Executor | None = None,
    progress: Silent | None = None,
    **options: Any,
) -> Summary:
    """Run a plan in this process; `calls` then tells what ran."""
    calls.clear()
    facts = {**FACTS, "overrides": dict(plan.overrides)}
    progress = progress or Silent()
    runner = Runner(
        plan, store, make_library(), executor or InlineExecutor(), progress, facts=facts, **options
    )
    return runner.run()


def run_lab(store: RecordStore, *words: str, **options: Any) -> Summary:
    return carry_out(store, plan_of(store, *words), **options)


def make_record(
    trial: Trial,
    *,
    status: str = "done",
    rows: Sequence[Mapping[str, Scalar | None]] = ({"y": 1.0},),
) -> Record:
    """Return a record as a run would write it."""
    return Record(
        key=trial.key,
        experiment=trial.experiment.id,
        version=trial.experiment.version,
        profile=trial.profile,
        device=trial.needs.device,
        params=dict(trial.params),
        upstream=[source.key for source in trial.upstream],
        status=status,
        rows=[dict(row) for row in rows],
        registered={"lab/tab01:grows": "0" * 16},
        provenance=Provenance(
            commit="c0ffee",
            dirty=False,
            started_at="2024-01-01T00:00:00+00:00",
            wall_s=0.25,
            code="0123456789abcdef",
            machine={"cpu": "one"},
            versions={"torch": "2"},
            data={},
            overrides={},
        ),
    )


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its content."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
