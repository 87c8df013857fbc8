"""In which order a short time on a card is used, and how many trials share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from harness.commands import gpu
from harness.commands.gpu import due
from harness.commands.run import Means
from harness.declare.experiment import Estimate, Experiment, Needs, Use
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.measure import machine
from harness.run.plan import Plan, make_plan
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.harness.inline_lab import LIMITS, Point, task_of

CARD = replace(LIMITS, has_cuda=True, gpu_bytes=2**40)
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
    tasks = [
        task_of(lab("long", 60), "one"),
        task_of(lab("tiny_on_base", 1, base), "two"),
        task_of(lab("short", 2), "three"),
        task_of(lab("middling", 20), "four"),
    ]
    plan = make(*tasks)
    assert order_of(plan.cheapest_first()) == ["short", "base", "tiny_on_base", "middling", "long"]
    assert plan.cheapest_first().items == plan.items, "the same trials, in another order"


def parts_of(tmp_path: Path, *tasks: Task) -> list[Plan]:
    library = SimpleNamespace(as_listed=list)
    return due(library, tasks, RecordStore(Workspace(tmp_path)), CARD)  # type: ignore[arg-type]


def test_kernels_come_before_all_in_their_order_with_what_they_start_from(tmp_path: Path) -> None:
    """Whether they are right is run first, whatever it takes."""
    right, fast = (
        replace(task_of(lab(word, seconds, *uses), word), own_kind="kernel")
        for word, seconds, uses in (("right", 300, (lab("weights", 30),)), ("fast", 1, ()))
    )
    first, rest = parts_of(tmp_path, task_of(lab("short", 2), "one"), right, fast)
    assert list(dict.fromkeys(order_of(first))) == ["weights", "right", "fast"]
    assert order_of(rest) == ["short"]


def test_what_kernels_share_a_card_by_is_not_what_the_largest_of_others_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "num_cores", lambda: 16)
    small, large = (
        lab(word, 1, needs=Needs(device="cuda", gpu_bytes=gib * 2**30))
        for word, gib in (("right", 2), ("nets", 40))
    )
    kernel = replace(task_of(small, "two"), own_kind="kernel")
    parts = parts_of(tmp_path, task_of(large, "one"), kernel)
    assert [part.num_side_by_side(78 * 2**30) for part in parts] == [16, 1]
    assert len(parts_of(tmp_path, kernel)) == 1
    assert len(parts_of(tmp_path)) == 1, "a plan without trials still says so"


class Parts:
    """Parts of a plan that take a while, by a clock that they move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s, self.ran = 0.0, list[tuple[str, float | None]]()
        monkeypatch.setattr(gpu, "time", SimpleNamespace(monotonic=lambda: self.now_s))

    def run(self, budget_s: float | None, **codes: int) -> int:
        """Run parts that take 100 s each and end with these codes; return that of all."""

        def run_part(part: Any, means: Means) -> None:
            self.ran.append((part, means.budget_s))
            self.now_s += 100.0
            if codes[part]:
                raise typer.Exit(codes[part])

        parts: Any = [(word, Means("local", 1, budget_s)) for word in codes]
        try:
            gpu.in_turn(parts, run_part)
        except typer.Exit as end:
            return end.exit_code
        return 0


def test_parts_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(monkeypatch)
    assert parts.run(480.0, kernels=0, others=0) == 0
    assert parts.ran == [("kernels", 480.0), ("others", 380.0)]
    short = Parts(monkeypatch)
    assert short.run(100.0, kernels=0, others=0) == 0
    assert short.ran == [("kernels", 100.0)]


@pytest.mark.parametrize(
    ("needed", "exclusive", "at_once"),
    [(0, False, 4), (3, False, 3), (7, False, 1), (20, False, 1), (7, True, 4)],
)
def test_as_many_share_a_card_as_it_holds(
    make: Make, monkeypatch: pytest.MonkeyPatch, needed: int, exclusive: bool, at_once: int
) -> None:
    monkeypatch.setattr(machine, "num_cores", lambda: 4)
    needs = Needs(device="cuda", gpu_bytes=needed * 2**30, exclusive=exclusive)
    plan = make(task_of(lab("nets", 1, needs=needs), "one"))
    assert plan.num_side_by_side(10 * 2**30) == at_once
