"""An outer step of condensation with kernels and without: its rows, and a kernel that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from harness.declare.experiment import Row
from harness.declare.verdict import Word
from reproductions.fg2u.image_sets import kernel_trial
from reproductions.fg2u.image_sets.kernel_experiment import Taken, grid, kernel_steps
from reproductions.fg2u.image_sets.with_kernels import task
from reproductions.kernels import backend
from reproductions.kernels.tangent_step import plain as plain_tangents
from tests.reproductions.fg2u.trials import context
from tests.verdicts import of_trial

(SMOKE,) = grid("smoke")


def rows_of(folder: Path) -> list[Row]:
    return list(kernel_trial.step_rows(SMOKE, context(kernel_steps, SMOKE, folder)))


def test_a_kernel_that_steps_otherwise_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = plain_tangents.step

    def longer(rule: Any, *rest: Any) -> Any:
        return step(rule._replace(lr=1.01 * rule.lr), *rest)

    monkeypatch.setattr(plain_tangents, "step", longer)
    rows = rows_of(tmp_path)
    assert rows[0]["agrees"] is False
    assert of_trial(task, SMOKE, rows) == Word.FAILS


@pytest.mark.kernels
def test_where_kernels_can_be_they_are_taken_unless_plain_torch_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU: `choose` answers as there, and Triton's interpreter runs what is launched."""

    def choose(device: torch.device) -> str:
        return "triton" if backend._wanted.get() else "plain"

    monkeypatch.setattr(backend, "choose", choose)
    rows = rows_of(tmp_path)
    summed, stepped = "kernels/rademacher: triton", "kernels/tangent_step: triton"
    assert {tuple(row[name] for name in Taken._fields): row["ran"] for row in rows} == {
        ("forward", "philox", True): f"{summed}; {stepped}",
        ("forward", "philox", False): "plain torch",
        ("forward", "rademacher", True): stepped,
        ("forward", "rademacher", False): "plain torch",
        ("adjoint", "philox", True): summed,
        ("adjoint", "philox", False): "plain torch",
        ("adjoint", "rademacher", False): "plain torch",
    }
    assert rows[0]["agrees"] is True
