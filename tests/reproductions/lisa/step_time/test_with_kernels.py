"""A step of LISA with its kernels and without: its rows, and a kernel that is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from harness.declare.experiment import Row
from harness.declare.verdict import Word
from reproductions.kernels import backend
from reproductions.kernels.adamw import optimizer
from reproductions.kernels.adamw import plain as plain_adamw
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.step_time import kernel_trial
from reproductions.lisa.step_time.experiment import kernel_grid
from reproductions.lisa.step_time.with_kernels import task
from tests.verdicts import of_trial

(SMOKE,) = kernel_grid("smoke")


class Context:
    """As much of a run's context as a trial asks for."""

    profile, device = "smoke", "cpu"

    def seed(self, stream: str) -> int:
        return 7


def rows_of() -> list[Row]:
    return list(kernel_trial.step_rows(SMOKE, Context()))  # type: ignore[arg-type]


def test_both_ways_are_plain_torch_on_a_cpu_and_agree() -> None:
    rows = rows_of()
    assert [(row["kernels"], row["ran"]) for row in rows] == [
        (True, "plain torch"), (False, "plain torch")
    ]  # fmt: skip
    trained = shape_of(SMOKE.shape).lisa_params(SMOKE.gamma)
    assert [row["state_bytes"] for row in rows] == [2 * 4 * trained] * 2
    assert all(row["num_samples"] == SMOKE.num_timed for row in rows)
    assert all(int(str(row["peak_bytes"])) > 0 for row in rows)
    assert [row["agrees"] for row in rows] == [True, None]
    assert of_trial(task, SMOKE, rows) == Word.HOLDS


def test_a_kernel_that_steps_otherwise_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    step_one = plain_adamw._step_one

    def longer(weight: plain_adamw.Weight, *rest: object) -> object:
        return step_one(replace(weight, lr=1.001 * float(weight.lr)), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(plain_adamw, "_step_one", longer)
    rows = rows_of()
    assert [row["agrees"] for row in rows] == [False, None]
    assert 5e-4 < float(str(rows[0]["apart"])) < 2e-3
    assert of_trial(task, SMOKE, rows) == Word.FAILS


def test_where_a_kernel_can_be_one_way_takes_it_and_the_other_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a GPU: `choose` answers as there, and the kernel is built for this machine."""

    def choose(device: torch.device) -> str:
        return "cuda" if backend._wanted.get() else "plain"

    monkeypatch.setattr(optimizer, "choose", choose)
    rows = rows_of()
    assert [row["ran"] for row in rows] == ["kernels/adamw: cuda", "plain torch"]
    assert rows[0]["agrees"] is True
