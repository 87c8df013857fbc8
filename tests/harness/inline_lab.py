"""Small experiments that run in the test's own process, and a way to run them.

`calls` lists what ran, in order; `faults` maps an address to what that trial raises.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.declare.experiment import (
    Batch,
    Experiment,
    Needs,
    RawParams,
    Row,
    RunContext,
    Use,
    describe_trial,
)
from harness.declare.old import old_task
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.table import Column, Table
from harness.declare.task import Task
from harness.executors import Executor
from harness.executors.inline import InlineExecutor
from harness.registry import Library, walk_experiments
from harness.run.plan import MachineLimits, Plan, make_plan
from harness.run.runner import Runner, Summary
from harness.run.trial import Trial
from harness.store.record import Provenance, Record
from harness.store.store import RecordStore

calls: list[str] = []
faults: dict[str, BaseException] = {}
batches: list[list[int]] = []
LIMITS = MachineLimits(
    memory_bytes=2**34, has_cuda=False, gpu_bytes=0, is_root=False, has_judge=False
)
FACTS: dict[str, Any] = {"commit": "c0ffee", "dirty": False, "machine": {}, "versions": {}}


def note(experiment: Experiment, params: RawParams) -> None:
    address = describe_trial(experiment, params)
    calls.append(address)
    if address in faults:
        raise faults[address]


def grid() -> Iterator[RawParams]:
    for x in range(3):
        yield {"x": x, "seed": 0}


def square(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    note(SQUARES, params)
    return [{"y": float(params["x"]) ** 2}]


def needs_of(params: RawParams) -> Needs:
    return Needs(packages=tuple(os.environ.get("LAB_NEEDS", "").split()))


SQUARES = Experiment(
    id="lab/squares",
    version=1,
    run=square,
    grid={"smoke": grid, "cpu": grid},
    needs=needs_of,
)


def base(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    import torch

    note(BASE, params)
    ctx.save("weights.safetensors", {"w": torch.full((4,), float(params["x"]))})
    return [{"y": float(params["x"])}]


BASE = Experiment(id="lab/base", version=1, run=base, grid={"smoke": grid, "cpu": grid})


def head(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    note(HEAD, params)
    upstream = ctx.upstream(BASE, x=params["x"], seed=params["seed"])
    total = upstream.load("weights.safetensors")["w"].sum().item()
    return [{"y": total + float(upstream.rows[0]["y"] or 0.0)}]


def head_grid() -> Iterator[RawParams]:
    for x in range(2):
        yield {"x": x, "k": 5, "seed": 0}


HEAD = Experiment(
    id="lab/head",
    version=1,
    run=head,
    grid={"smoke": head_grid, "cpu": head_grid},
    uses=(Use(experiment=BASE, params=lambda p: {"x": p["x"], "seed": p["seed"]}),),
)


def alone(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    return together([params], [ctx])[0]


def together(points: Sequence[RawParams], contexts: Sequence[RunContext]) -> list[Sequence[Row]]:
    batches.append([int(point["x"]) for point in points])
    for point in points:
        note(BATCHED, point)
    return [[{"y": float(point["x"]) * 10.0}] for point in points]


def batched_grid() -> Iterator[RawParams]:
    for width in (8, 16):
        for x in range(5):
            yield {"x": x + width, "width": width, "seed": 0}


BATCHED = Experiment(
    id="lab/batched",
    version=1,
    run=alone,
    grid={"smoke": batched_grid, "cpu": batched_grid},
    batch=Batch(run=together, by=("width",), size=3),
)


class OddError(Exception):
    """An exception that cannot be carried to another process and built there again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def meet_fate(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Do what the parameter says; for workers, which share no memory with the test."""
    match params["fate"]:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            sys.exit(7)
        case "odd exception":
            raise OddError(1, 2)
        case "hang":
            (ctx.checkpoint_path().parents[2] / "hang").touch()
            time.sleep(600)
        case "environment":
            return [
                {
                    "threads": os.environ["OMP_NUM_THREADS"],
                    "wait": os.environ["OMP_WAIT_POLICY"],
                    "sigint": "ignored"
                    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN
                    else "not",
                    "blocked": signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()),
                }
            ]
    return [{"y": 1.0}]


def fates_grid() -> Iterator[RawParams]:
    for fate in ("ok", "well"):
        yield {"fate": fate, "number": 0, "seed": 0}


FATES = Experiment(id="lab/fates", version=1, run=meet_fate, grid={"cpu": fates_grid})


def task_of(experiment: Experiment, word: str) -> Task:
    columns = (
        Column(name="x", type="int", role="param", doc="the number"),
        Column(name="seed", type="int", role="seed", doc="the seed"),
        Column(name="y", type="float", role="value", doc="what came out", nullable=True),
    )
    return old_task(
        id=f"lab/{word}", title=word, reads=(experiment,), columns=Table(columns), kind="table"
    )


tasks = [
    task_of(experiment, word)
    for word, experiment in (
        ("squares", SQUARES),
        ("base", BASE),
        ("head", HEAD),
        ("batched", BATCHED),
        ("fates", FATES),
    )
]
TASKS = {task.id.split("/")[1]: task for task in tasks}


def make_library() -> Library:
    library = Library()
    for task in tasks:
        library.tasks.add(task.id, task)
        library.modules[task.id] = __name__
        for experiment in walk_experiments(task):
            library.experiments.add(experiment.id, experiment)
    return library


class Silent:
    """A progress that says nothing, and calls back after each trial."""

    def __init__(self, after: Callable[[Trial], None] = lambda trial: None) -> None:
        self.after = after

    def start(self, items: Sequence[Any]) -> None: ...

    def finished(self, trial: Trial, report: Any) -> None:
        self.after(trial)

    def stop(self) -> None: ...


def plan_of(store: RecordStore, *words: str, profile: Profile = "cpu", **options: Any) -> Plan:
    return make_plan([TASKS[word] for word in words], profile, store, LIMITS, **options)


def carry_out(
    store: RecordStore,
    plan: Plan,
    *,
    executor: Executor | None = None,
    progress: Silent | None = None,
    **options: Any,
) -> Summary:
    """Run a plan in this process; `calls` and `batches` then tell what ran."""
    calls.clear()
    batches.clear()
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
        device="cpu",
        params=dict(trial.params),
        upstream=[source.key for source in trial.upstream],
        status=status,
        rows=[dict(row) for row in rows],
        seals={"lab/squares:grows": {"sha256": "0" * 64, "threshold": 1.0}},
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
