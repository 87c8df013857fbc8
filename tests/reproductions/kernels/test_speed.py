"""Races of kernels: who takes part, what is refused, what goals say of tables made by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
import torch

from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.errors import RunError
from harness.measure.timing import Timing
from harness.registry import load_registry
from reproductions.kernels.cases import CASES, KERNELS, Work
from reproductions.kernels.speed import trial
from reproductions.kernels.speed.contest import Contender, Setting
from reproductions.kernels.speed.experiment import RACES, TRITON, Race
from reproductions.kernels.speed.trial import contest_of, speed_rows
from tests.verdicts import claim_of, controlled, decide, judge

CPU = torch.device("cpu")
TASKS = {kernel: load_registry().tasks[f"kernels/{kernel}"] for kernel in KERNELS}
GOALS = [
    pytest.param(task, claim, id=f"{task.id}:{claim.id}")
    for task in TASKS.values()
    for claim in task.claims
    if claim.scope.own_question
]


class Context:
    """A run's context, with one seed for all streams."""

    profile, device = "smoke", "cpu"

    def seed(self, stream: str) -> int:
        return 3


def race(kernel: str, **changed: Any) -> Race:
    point = next(iter(RACES[kernel].params_of("smoke")))
    found = RACES[kernel].typed({**point, **changed})
    assert isinstance(found, Race)
    return found


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_that_a_table_prints_takes_part_on_a_gpu(kernel: str) -> None:
    """Else a column would stay empty, or a time would stand in none."""
    names: set[str] = set()
    for case in CASES:
        if case.kernel == kernel and "gpu" in case.profiles:
            tiny = case._replace(sizes=dict.fromkeys(case.sizes, 8))
            for precision in case.precisions:
                setting = Setting(trial.DTYPES[precision], CPU)
                names |= contest_of(tiny, setting).contenders.keys()
    (layout,) = TASKS[kernel].layouts
    heads = {column.where["implementation"] for column in layout.columns}
    # Liger is there where it is installed.
    assert heads - {"Liger"} == names - {"Liger"}


def timing(ms: float) -> Timing:
    return Timing(samples_ms=(ms, ms), median_ms=ms, p20_ms=ms, p80_ms=ms, load_average=None)


def test_a_time_below_its_floor_is_refused() -> None:
    work = Work(bytes=100, flops=2 * trial.PRODUCT_SIZE["cpu"] ** 3)
    asked, least_ms = race("linear_cross_entropy"), 0.7
    # Of the two that move bytes the faster counts; of bytes and products what takes longer.
    for copy_ms, in_place_ms, product_ms in ((2.0, 1.0, 0.1), (0.1, 0.1, 1.0)):
        times = {
            trial.COPY: timing(copy_ms), trial.IN_PLACE: timing(in_place_ms),
            trial.PRODUCT: timing(product_ms),
        }  # fmt: skip
        honest = trial._speed("x", {**times, "x": timing(1.01 * least_ms)}, work, asked)
        assert honest["floor_us"] == pytest.approx(1e3)
        assert honest["share_of_ceiling"] == pytest.approx(1 / (1.01 * least_ms))
        with pytest.raises(RunError, match="what was timed is not the work"):
            trial._speed("x", {**times, "x": timing(0.99 * least_ms)}, work, asked)


@pytest.mark.parametrize("ours", [False, True])
def test_what_cannot_run_is_said_and_fails_the_check_where_it_is_ours(
    monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    """A failed trial would stop its kernel's races in all types once three errors are equal."""

    def refuses(inputs: Any) -> Any:
        raise RuntimeError("no such device")

    made = trial.MAKERS["rademacher"]

    def with_one_more(case: Any, setting: Any) -> Any:
        contest = made(case, setting)
        others = {"refusing": Contender(refuses, ours=ours), "eager": contest.contenders["eager"]}
        return contest._replace(contenders=others)

    monkeypatch.setitem(trial.MAKERS, "rademacher", with_one_more)  # type: ignore[arg-type]
    monkeypatch.setattr(trial, "taking_part", lambda contest, race: contest.contenders)
    table = pd.DataFrame(speed_rows(race("rademacher"), Context()))  # type: ignore[arg-type]
    rows = table.set_index("implementation")
    assert rows.loc["refusing", "missing"].startswith("RuntimeError: ")
    assert rows.loc["eager", "missing"] == "" and rows.loc["eager", "median_us"] > 0
    if ours:
        check = claim_of(TASKS["rademacher"], "outputs_agree")
        assert controlled(check, table, seed="seed").word == Word.FAILS
    else:
        assert pd.isna(rows.loc["refusing", "agrees"])


def test_a_call_that_goes_wrong_once_it_is_timed_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is right the first time that it is called, and so where it is bound anew."""
    kernel = "masked_adamw"
    made = trial.MAKERS[kernel]

    def with_one_more(case: Any, setting: Any) -> Any:
        contest = made(case, setting)
        eager = contest.contenders["eager"].bind

        def bind(given: Any) -> Any:
            call, calls = eager(given), itertools.count()
            return lambda: [each.mul_(1.001 if next(calls) else 1.0) for each in call()]

        return contest._replace(contenders={**contest.contenders, "tiring": Contender(bind)})

    monkeypatch.setitem(trial.MAKERS, kernel, with_one_more)  # type: ignore[arg-type]
    rows = {row["implementation"]: row for row in speed_rows(race(kernel), Context())}  # type: ignore[arg-type]
    assert rows["eager"]["agrees"] and not rows["tiring"]["agrees"]


def rows_at(kernel: str, medians_us: dict[str, float], **columns: Any) -> Iterator[dict[str, Any]]:
    """Yield rows of five seeds for every case of `gpu`."""
    for case in CASES:
        if case.kernel != kernel or "gpu" not in case.profiles:
            continue
        for precision, seed in itertools.product(case.precisions, range(5)):
            for name, median_us in medians_us.items():
                yield {
                    "case": case.name, "precision": precision, "seed": seed,
                    "implementation": name, "median_us": median_us * (1 + 0.01 * seed),
                    "floor_us": 1.0, "copy_us": 1.0 * (1 + 0.01 * seed), "agrees": True,
                    "bytes": 1000, "peak_bytes": int(1000 * median_us), **columns,
                }  # fmt: skip


def table_of(task: Task, *, triton_us: float, others_us: float) -> pd.DataFrame:
    names = {str(line.where["implementation"]): others_us for line in task.layouts[0].columns}
    return pd.DataFrame(rows_at(task.id.split("/")[1], {**names, TRITON: triton_us}))


@pytest.mark.parametrize(("task", "claim"), GOALS)
def test_goals_hold_fail_and_ask_for_seeds(task: Task, claim: Any) -> None:
    fast = table_of(task, triton_us=1.05, others_us=4.0)
    slow = table_of(task, triton_us=4.4, others_us=3.9)
    judge(task, claim, holds=fast, fails=slow)
    assert controlled(claim, fast, seed="seed", profile="cpu").word == Word.UNTESTED


def test_a_goal_of_several_calls_needs_each_in_each_type() -> None:
    place = "LLaMA-7B's step, float32"
    task = TASKS["shard_pack"]
    table = table_of(task, triton_us=1.05, others_us=4.0)
    at = table["case"] + ", " + table["precision"] == place
    table.loc[at & (table["implementation"] == TRITON), "median_us"] *= 4.0
    verdict = decide(task, claim_of(task, "near_the_copy"), table)
    assert (verdict.word, verdict.deciding) == (Word.CONTRADICTED, place)
