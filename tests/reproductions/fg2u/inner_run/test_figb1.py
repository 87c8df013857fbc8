"""Figure B.1: its table and figure, and the run's rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from reproductions.fg2u.inner_run.experiment import InnerRun
from reproductions.fg2u.inner_run.trial import inner_rows
from reproductions.fg2u.models.condensation import NET
from reproductions.fg2u.models.mlp import scores


def test_rows_are_those_of_torch_s_own_descent() -> None:
    images = torch.rand(10, 8, 8, generator=torch.Generator().manual_seed(0))
    params = InnerRun(depth=3, num_steps=12, seed=0)
    kept = SimpleNamespace(load=lambda name: {"images": images})
    context: Any = SimpleNamespace(seed=lambda stream: 5, upstream=lambda *of: kept)
    rows = inner_rows(params, context)
    assert [row["step"] for row in rows] == [0, 1, 3, 10, 12]
    weights = [w.requires_grad_() for w in NET.drawn(torch.Generator().manual_seed(5))]
    optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
    for number in range(13):
        optimizer.zero_grad()
        loss = cross_entropy(scores(weights, images), torch.arange(10))
        loss.backward()
        squares = [w.grad.square().sum() for w in weights if w.grad is not None]
        for row in rows:
            if row["step"] == number:
                assert row["inner_loss"] == pytest.approx(loss.item(), rel=1e-4)
                norm = float(torch.stack(squares).sum().sqrt())
                assert row["gradient_norm"] == pytest.approx(norm, rel=1e-4)
        optimizer.step()
