"""In which order a short time on a card is used, and how many trials share it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands.gpu import in_order
from harness.declare.experiment import Estimate, Experiment, Needs, Use
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.run.executors.job import Job, Report
from harness.run.plan import Plan, make_plan
from harness.run.runner import Runner
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.harness.inline_lab import FACTS, LIMITS, Point, Silent, task_of

CARD = replace(LIMITS, has_cuda=True, gpu_bytes=10 * 2**30)
Make = Callable[..., Plan]


def grid(profile: Profile) -> Iterator[Point]:
    yield from (Point(x=x, seed=0) for x in range(3))


def lab(word: str, seconds: float, *uses: Experiment, needs: Needs | None = None) -> Experiment:
    """Return an experiment of three trials that take so long each."""
    return Experiment(
        f"lab/{word}",
        version=1,
        params=Point,
        grid=grid,
        run=".inline_lab:square",
        needs=needs or Needs(device="cuda"),
        uses=tuple(Use(experiment=each, params=lambda point: point) for each in uses),
        estimate=lambda point: Estimate(seconds=seconds),
    )


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def plan(*tasks: Task) -> Plan:
        return make_plan(tasks, "gpu", RecordStore(Workspace(tmp_path)), CARD)

    return plan


def order_of(plan: Plan) -> list[str]:
    """Return the words of a plan's experiments as their trials come, each stretch once."""
    words = [item.trial.experiment.id.removeprefix("lab/") for item in plan.items.values()]
    return [word for i, word in enumerate(words) if i == 0 or words[i - 1] != word]


def test_what_takes_least_with_all_it_still_needs_comes_first(make: Make) -> None:
    base = lab("base", 10)
    plan = make(
        task_of(lab("long", 60), "one"),
        task_of(lab("tiny_on_base", 1, base), "two"),
        task_of(lab("short", 2), "three"),
        task_of(lab("middling", 20), "four"),
    )
    placed = in_order(plan)
    assert order_of(placed) == ["short", "base", "tiny_on_base", "middling", "long"]
    assert placed.items == plan.items, "the same trials, in another order"


def test_kernels_come_before_all_in_their_order_with_what_they_start_from(make: Make) -> None:
    """Whether they are right is run first, whatever it takes."""
    right, fast = (
        replace(task_of(lab(word, seconds, *uses), word), own_kind="kernel")
        for word, seconds, uses in (("right", 300, (lab("weights", 30),)), ("fast", 1, ()))
    )
    placed = in_order(make(task_of(lab("short", 2), "one"), right, fast))
    assert list(dict.fromkeys(order_of(placed))) == ["weights", "right", "fast", "short"]


class Shared:
    """An executor whose jobs take a while and do nothing; it counts those that run at once, and
    the trials of each."""

    num_workers, places_jobs = 4, False

    def __init__(self) -> None:
        self.running, self.most = 0, 0
        self.sizes: list[int] = []

    def submit(self, job: Job) -> Future[list[Report]]:
        self.running += 1
        self.sizes.append(len(job.points))
        self.most = max(self.most, self.running)
        future: Future[list[Report]] = Future()
        threading.Timer(0.02, self._end, [future, len(job.points)]).start()
        return future

    def _end(self, future: Future[list[Report]], num_trials: int) -> None:
        self.running -= 1
        future.set_result([Report(status="done", wall_s=0.0)] * num_trials)

    def cancel_all(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("needed", "exclusive", "at_once"), [(0, False, 3), (4, False, 2), (7, False, 1), (4, True, 1)]
)
def test_as_many_share_a_card_as_it_holds(
    make: Make, tmp_path: Path, needed: int, exclusive: bool, at_once: int
) -> None:
    needs = Needs(device="cuda", gpu_bytes=needed * 2**30, exclusive=exclusive)
    plan = make(task_of(lab("nets", 1, needs=needs), "one"))
    library: Any = SimpleNamespace(tasks_of=lambda each: [], module_of=lambda each: __name__)
    store, card = RecordStore(Workspace(tmp_path)), Shared()
    summary = Runner(plan, store, library, card, Silent(), facts=FACTS).run()
    assert (summary.num_run, card.most) == (3, at_once)


def test_no_task_is_announced_while_a_timing_trial_runs(make: Make, tmp_path: Path) -> None:
    """What follows, a table and a figure, would be timed too; beside other trials it costs none."""
    timed = Needs(device="cuda", exclusive=True)
    plan = make(task_of(lab("plain", 1), "one"), task_of(lab("timed", 2, needs=timed), "two"))
    library: Any = SimpleNamespace(tasks_of=lambda each: [], module_of=lambda each: __name__)
    card, told = Shared(), list[tuple[str, int]]()
    runner = Runner(
        plan, RecordStore(Workspace(tmp_path)), library, card, Silent(), facts=FACTS,
        on_task_done=lambda task: told.append((task.id, card.running)),
    )  # fmt: skip
    runner.run()
    assert told == [("lab/one", 0), ("lab/two", 0)]
