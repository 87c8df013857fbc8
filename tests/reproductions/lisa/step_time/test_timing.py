"""Time of a step: what is timed for real, and the claims on tables made by hand."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.store.table_csv import build_table
from reproductions.lisa.method.methods import Full, LisaMethod, Lora, Method
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.steps.memory import Workload
from reproductions.lisa.step_time.experiment import Timing, methods_of, timings
from reproductions.lisa.step_time.fig04 import task
from reproductions.lisa.step_time.timing import PHASES, Step, warm_times
from tests.reproductions.lisa.made import Case

TASKS = (task,)
SMOKE = shape_of("tiny-smoke")
WORK = Workload(seq_len=16, batch_size=1, dtype="float32")
METHODS: dict[str, Method] = {
    "full": Full(),
    "lora": Lora(rank=1, alpha=1.0, dropout=0.1, embeddings=True),
    "lisa": LisaMethod(gamma=2, period=10**9, seed=0),
}
LINEARS = sum(rows * columns for rows, columns in SMOKE.linears)
MS = {
    "full": {"forward": 10.0, "backward": 20.0, "optimizer": 10.0},
    "lora": {"forward": 15.0, "backward": 20.0, "optimizer": 2.0},
    "lisa": {"forward": 10.2, "backward": 2.0, "optimizer": 1.0},
}
"""LISA takes 0.33 of full training, against all arithmetic, as the paper has it."""


def step_of(name: str) -> Step:
    return Step(METHODS[name], SMOKE, WORK, device="cpu", seed=0)


def rows_of(point: dict[str, Any], case: Case) -> list[dict[str, Any]]:
    """A trial's rows. Fails: LISA computes more forward and saves less backward, and is slower."""
    good, drift = case == "holds", 1.0 + 0.05 * int(point["seed"])
    rows = []
    for method in methods_of(Timing.from_json(point)):
        name = method.method
        lisa = name == "lisa"
        ms = {phase: drift * value for phase, value in MS[name].items()}
        if lisa and not good:
            ms = {"forward": 20.0 * drift, "backward": 40.0 * drift, "optimizer": 1.0 * drift}
        flops = {"forward": 10**13, "backward": 2 * 10**13, "optimizer": 0}
        if lisa:
            shape, tokens = shape_of(str(point["shape"])), point["seq_len"] * point["batch_size"]
            linears = sum(rows * columns for rows, columns in shape.linears)
            flops["backward"] -= 2 * tokens * linears * (shape.num_blocks - 2)
            flops["forward"] += 0 if good else 1
            flops["backward"] += 0 if good else 1
        if point["cold"]:
            ms = {"forward": ms["forward"], "backward_and_optimizer": 3.0 * ms["backward"]}
            flops = dict.fromkeys(ms)  # type: ignore[assignment]
        ms["total"] = sum(ms.values())
        flops["total"] = None if point["cold"] else sum(flops.values())  # type: ignore[assignment]
        rows += [
            {**point, **asdict(method), "phase": phase, "num_samples": 20, "flops": flops[phase],
             "median_ms": value, "p25_ms": value, "p75_ms": value, "load_average": None,
             "status": "done"}
            for phase, value in ms.items()
        ]  # fmt: skip
    return rows


def table_of(_: Task, case: Case, grid: Profile = "cpu") -> pd.DataFrame:
    frame = pd.DataFrame([row for point in timings.params_of(grid) for row in rows_of(point, case)])
    return build_table(task, {"lisa/step_time": frame})


def test_phases_are_timed_apart_and_sum_to_the_total() -> None:
    found = warm_times([step_of(name) for name in METHODS], device="cpu", num_warmup=1, num_timed=4)
    for times in found:
        samples = times.samples_ms
        assert list(samples) == [*PHASES, "total"]
        assert all(len(each) == 4 and min(each) > 0.0 for each in samples.values())
        for number, total in enumerate(samples["total"]):
            assert total == pytest.approx(sum(samples[phase][number] for phase in PHASES))


@pytest.mark.parametrize("name", ["lora", "lisa"])
def test_counted_operations_are_the_profiler_s(name: str) -> None:
    step = step_of(name)
    counted = step.count_flops()
    with profile(activities=[ProfilerActivity.CPU], with_flops=True) as found:
        step.forward()
        step.backward()
    products = ("aten::mm", "aten::addmm", "aten::bmm")
    measured = sum(event.flops for event in found.key_averages() if event.key in products)
    assert counted["total"] == counted["forward"] + counted["backward"] == measured


def test_lisa_saves_the_gradients_of_frozen_weights_and_no_more() -> None:
    full, lisa = (step_of(name).count_flops() for name in ("full", "lisa"))
    assert lisa["forward"] == full["forward"]
    assert full["backward"] - lisa["backward"] == 2 * 16 * LINEARS * (SMOKE.num_blocks - 2)
    weights = SMOKE.num_blocks * LINEARS + SMOKE.vocab * SMOKE.hidden
    scores_and_values = SMOKE.num_blocks * 2 * 16 * 16 * SMOKE.hidden
    assert full["forward"] == 2 * (16 * weights + scores_and_values)
    assert full["backward"] == 2 * full["forward"]


def test_steps_train_and_switch_no_block() -> None:
    step = step_of("lisa")
    model = step._prepared.model
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    for _ in range(30):
        for phase in step.phases:
            phase()
    moved = {name.split(".")[2] for name, value in model.named_parameters() if "layers" in name
             and not torch.equal(value, before[name])}  # fmt: skip
    assert len(moved) == 2
    assert all(p.grad is None for p in model.parameters())
