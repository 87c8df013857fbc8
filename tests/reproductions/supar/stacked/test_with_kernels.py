"""A step of a sweep, stacked and one by one, with kernels and without: its rows, and faults."""

from __future__ import annotations

import pytest
import torch

from harness.declare.experiment import Row
from harness.declare.verdict import Word
from reproductions.kernels import backend
from reproductions.kernels.adamw import optimizer
from reproductions.supar.method import stacked
from reproductions.supar.stacked.experiment import WAYS, grid, sweep_steps
from reproductions.supar.stacked.with_kernels import task
from tests.reproductions.supar.small import run
from tests.verdicts import of_trial

(SMOKE,) = grid("smoke")


def rows_of() -> list[Row]:
    return list(run(sweep_steps, SMOKE))


def test_all_ways_are_plain_torch_on_a_cpu_and_nets_agree() -> None:
    rows = rows_of()
    assert [(row["how"], row["kernels"]) for row in rows] == list(WAYS)
    assert {row["ran"] for row in rows} == {"plain torch"}
    assert {row["num_samples"] for row in rows} == {SMOKE.steps}
    assert [row["agrees"] for row in rows] == [True, None, None, None]
    assert of_trial(task, SMOKE, rows) == Word.HOLDS


def test_a_stack_that_parts_from_its_nets_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It clips all members as one."""

    def together(self: stacked.Stack, max_norm: float) -> torch.Tensor:
        return torch.nn.utils.clip_grad_norm_(self.weights.values(), max_norm)

    monkeypatch.setattr(stacked.Stack, "clip_grad_norm_", together)
    rows = rows_of()
    assert rows[0]["agrees"] is False
    assert of_trial(task, SMOKE, rows) == Word.FAILS


def test_where_a_kernel_can_be_two_ways_take_it_and_the_others_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a GPU: `choose` answers as there, and the kernel is built for this machine."""

    def choose(device: torch.device) -> str:
        return "cuda" if backend._wanted.get() else "plain"

    monkeypatch.setattr(optimizer, "choose", choose)
    rows = rows_of()
    assert [row["ran"] for row in rows] == ["kernels/adamw: cuda", "plain torch"] * 2
    assert rows[0]["agrees"] is True
