"""Claims on SmolLM2: where they hold, fail, or their control does not; and the tables they read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.lisa.compared import (
    compared_benchmarks,
    compared_losses,
    compared_memory,
    compared_time,
)
from reproductions.lisa.compared import experiment as compared
from reproductions.lisa.compared.table import pilot_rows
from tests.reproductions.lisa.made import Case
from tests.reproductions.lisa.step_time.test_timing import rows_of as timed_rows
from tests.verdicts import claim_of, decide

TASKS = tuple(
    one.task for one in (compared_losses, compared_benchmarks, compared_memory, compared_time)
)
LOSS = {
    "holds": {
        "untuned": 3.0, "full": 2.1, "lora": 2.2, "lora_equal": 2.2, "lora_ends": 2.2,
        "galore": 2.2, "lisa": 2.1, "lisa_8": 2.0, "no_blocks": 2.8,
    },
    "fails": {
        "untuned": 3.0, "full": 2.0, "lora": 1.9, "lora_equal": 1.9, "lora_ends": 1.9,
        "galore": 1.9, "lisa": 2.3, "lisa_8": 2.5, "no_blocks": 2.2,
    },
}  # fmt: skip
ACCURACY = {"holds": {"lisa": 0.65}, "fails": {"lisa": 0.5}}
BYTES = {"holds": {"lisa": 500, "lora": 600}, "fails": {"lisa": 700, "lora": 600}}


def tuned_rows(point: Mapping[str, Any], case: Case) -> list[dict[str, Any]]:
    """Return plain losses and accuracies, in which seeds differ a little."""
    method, apart = point["method"], 0.001 * (point["seed"] % 10)
    end = LOSS[case][method] + (0.0 if method == "untuned" else apart)
    rows: list[dict[str, Any]] = [
        {"split": "train", "step": step, "loss": end} for step in (1, 30, 40) if method != "untuned"
    ]
    rows.append({"split": point["held_out"], "step": point["num_steps"], "loss": end})
    for name in compared.datasets_of(point["benchmarks"]):
        right = ACCURACY[case].get(method, 0.6) + (0.0 if method == "untuned" else apart)
        asked = {"accuracy": right, "stderr": 0.03, "random_accuracy": 0.25, "num_documents": 200}
        rows.append({"split": name, "step": point["num_steps"], **asked})
    empty = {"loss": None, "accuracy": None}
    return [{**point, "status": "done", **empty, **row} for row in rows]


def held_row(point: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """Return plain bytes. Fails: more than the closed form, one parameter and byte too many."""
    method, good = point["method"], case == "holds"
    static = {"lora_equal": 380, "lora_ends": 370}.get(method, 400) + (0 if good else 200)
    static = 400 if method == "lisa" else static
    off = 0 if good or point["how"] == "arithmetic" else 1
    return {
        **point, "status": "done", "num_params": 10, "num_trainable": 5 + off,
        "trainable_closed_form": 5, "weights_bytes": 100, "gradients_bytes": 100,
        "moments_bytes": (static - 200) * (1 + off), "saved_bytes": 100,
        "total_bytes": BYTES[case].get(method, 1000), "static_closed_form_bytes": static,
    }  # fmt: skip


@cache
def frames(case: Case) -> dict[str, pd.DataFrame]:
    tuned = [
        row for point in compared.finetuned.params_of("cpu") for row in tuned_rows(point, case)
    ]
    held = [held_row(point, case) for point in compared.held.params_of("cpu")]
    timed = [row for point in compared.timings.params_of("cpu") for row in timed_rows(point, case)]
    made = {compared.finetuned: tuned, compared.held: held, compared.timings: timed}
    return {one.id: pd.DataFrame(rows) for one, rows in made.items()}


def table_of(task: Task, case: Case) -> pd.DataFrame:
    return build_table(task, {one.id: frames(case)[one.id] for one in task.reads})


CONTROLLED = [
    pytest.param(compared_losses.task, "full", 2.9, "full training lowers", id="losses"),
    pytest.param(
        compared_benchmarks.task, "untuned", 0.27, "the untuned model is", id="benchmarks"
    ),
]


@pytest.mark.parametrize(("task", "method", "number", "says"), CONTROLLED)
def test_nothing_is_judged_where_the_control_fails(
    task: Task, method: str, number: float, says: str
) -> None:
    name = "loss" if task is compared_losses.task else "accuracy"
    table = table_of(task, "holds")
    weak = table.assign(**{name: table[name].mask(table["method"] == method, number)})
    for claim in task.claims:
        verdict = decide(task, claim, weak)
        assert verdict.word is Word.UNTESTED
        assert says in verdict.reason


def test_times_that_scatter_decide_nothing() -> None:
    task = compared_time.task
    table = table_of(task, "holds")
    verdict = decide(task, claim_of(task, "step_takes_a_third"), table.assign(p25_ms=0.0))
    assert verdict.word is Word.UNTESTED


def test_the_untuned_model_stands_beside_every_seed() -> None:
    table = table_of(compared_losses.task, "holds")
    untuned = table[table["method"] == "untuned"]
    assert list(untuned["seed"]) == [100, 101, 102, 103, 104]
    assert set(untuned["loss"]) == {3.0}
    assert untuned["train_loss"].isna().all()


def test_a_method_that_diverged_has_no_loss_and_is_not_chosen() -> None:
    rows = [row for point in compared.pilots.params_of("cpu") for row in tuned_rows(point, "holds")]
    frame = pd.DataFrame(rows)
    lost = (frame["method"] == "lora") & (frame["lr"] == 1e-4) & (frame["split"] == "validation")
    table = pilot_rows({compared.pilots.id: frame[~lost]})
    lora = table[table["method"] == "lora"].set_index("lr")
    assert lora["loss"].isna().to_dict() == {1e-4: True, 3e-4: False, 1e-3: False}
    assert not lora.loc[1e-4, "chosen"]
    assert (table.groupby("method")["chosen"].sum() == 1).all()


def test_ranks_of_equal_memory_are_the_largest_that_fit() -> None:
    from reproductions.lisa.compared.trial import told_of
    from reproductions.lisa.models.shapes import shape_of

    def bytes_of(point: compared.Held) -> int:
        return shape.static_bytes(**told_of(point), dtype="float32", embeddings=False)

    held = {p.method: p for p in compared.held_grid("cpu")}
    shape = shape_of(compared.SMOLLM_SHAPE)
    assert shape.num_params == 134_515_008
    for method in ("lora_equal", "lora_ends"):
        above = replace(held[method], rank=held[method].rank + 1)
        assert bytes_of(held[method]) <= bytes_of(held["lisa"]) < bytes_of(above)
