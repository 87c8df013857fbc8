"""Trials of dynamic sparsity: what a net starts from, and the masks it ends with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from harness.declare.experiment import Status
from reproductions.supar.dynamic import trial as dynamic_trial
from reproductions.supar.dynamic.experiment import METHODS, DynamicPoint, dynamic_sweep
from reproductions.supar.method.masks import linear_layers, masked_layers
from reproductions.supar.models.gpt_trial import Prepared, train_gpt
from reproductions.supar.models.points import RatePoint
from reproductions.supar.models.points import point as plain
from reproductions.supar.models.training import TrainLog
from tests.reproductions.supar import small
from tests.reproductions.supar.masked_nets import zeros_under_masks


def point(method: str, **changes: Any) -> DynamicPoint:
    """Return a smoke trial of SmuPar under a method."""
    points = small.points(dynamic_sweep)
    found = next(p for p in points if (p.method, p.scheme) == (method, "supar"))
    return replace(found, **changes)


@pytest.mark.parametrize(("method", "kept"), [("gmp", 1.0), ("rigl", 0.25)])
def test_a_trial_starts_as_the_sparse_net_and_ends_at_its_density_with_other_masks(
    method: str, kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Prepared] = []
    starts: dict[str, Tensor] = {}
    run_training = dynamic_trial.run_training

    def keeping(prepared: Prepared, *args: Any, **kwargs: Any) -> TrainLog:
        seen.append(prepared)
        for name in linear_layers(prepared.model, exclude=()):
            starts[name] = prepared.model.get_parameter(f"{name}.weight").detach().clone()
        return run_training(prepared, *args, **kwargs)

    monkeypatch.setattr(dynamic_trial, "run_training", keeping)
    assert small.run(dynamic_sweep, point(method)).status is Status.DONE
    # Under GMP this over-corrects: dense weights with the spread of sparse ones.
    sparse = small.table("supar", width=64, density=0.25).rule("hidden").init_std
    (prepared,) = seen
    assert prepared.parameterization.rule("hidden").init_std == sparse
    layers = masked_layers(prepared.model)
    assert layers.keys() == starts.keys()
    for name, layer in layers.items():
        start = starts[name]
        assert int(start.count_nonzero()) == kept * start.numel(), name
        # 1,024 weights at least: the relative standard error is under 2.3 %.
        assert float(start[start != 0].std()) == pytest.approx(sparse, rel=0.1), name
        assert int(layer.weight_mask.sum()) == layer.weight.numel() // 4, name
        assert not torch.equal(layer.weight_mask, start != 0), name
    assert zeros_under_masks(prepared.model)


@pytest.mark.parametrize("method", METHODS)
def test_dense_trial_trains_as_without_a_method(method: str) -> None:
    # The paper's grid has the dense net too; so do the dense rows of the static sweep elsewhere.
    params = point(method, density=1.0, last_update=2, update_interval=2)
    context = small.Context(dynamic_sweep, params)
    outcome = dynamic_trial.train_dynamic(params, context)
    assert outcome.rows == train_gpt(plain(RatePoint, params), context).rows
