"""Trials of dynamic sparsity: what a net starts from, and the masks it ends with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from harness.declare.experiment import Outcome, Status
from reproductions.supar.dynamic import trial as dynamic_trial
from reproductions.supar.dynamic.experiment import METHODS, DynamicPoint, dynamic_sweep
from reproductions.supar.method.masks import linear_layers, masked_layers
from reproductions.supar.models.gpt_trial import Prepared, train_gpt
from reproductions.supar.models.points import RatePoint
from reproductions.supar.models.points import point as plain
from reproductions.supar.models.training import TrainLog
from tests.reproductions.supar import small
from tests.reproductions.supar.dynamic_nets import zeros_under_masks


@dataclass(frozen=True)
class Seen:
    """A trial as `run_training` sees it, before and after."""

    outcome: Outcome
    prepared: Prepared
    start: dict[str, Tensor]
    """Hidden weights before the first step, by layer."""


def point(method: str, **changes: Any) -> DynamicPoint:
    """Return a smoke trial of SmuPar under a method."""
    points = small.points(dynamic_sweep)
    found = next(p for p in points if (p.method, p.scheme) == (method, "supar"))
    return replace(found, **changes)


def watched(monkeypatch: pytest.MonkeyPatch, method: str, **changes: Any) -> Seen:
    """Run a trial, and keep its net."""
    kept: list[tuple[Prepared, dict[str, Tensor]]] = []
    original = dynamic_trial.run_training

    def keeping(prepared: Prepared, *args: Any, **kwargs: Any) -> TrainLog:
        names = linear_layers(prepared.model, exclude=())
        weights = {n: prepared.model.get_parameter(f"{n}.weight").detach().clone() for n in names}
        kept.append((prepared, weights))
        return original(prepared, *args, **kwargs)

    monkeypatch.setattr(dynamic_trial, "run_training", keeping)
    params = point(method, **changes)
    outcome = dynamic_trial.train_dynamic(params, small.Context(dynamic_sweep, params))
    ((prepared, start),) = kept
    return Seen(outcome, prepared, start)


@pytest.mark.parametrize(("method", "kept"), [("gmp", 1.0), ("rigl", 0.25)])
def test_a_trial_starts_as_the_sparse_net_and_ends_at_its_density_with_other_masks(
    method: str, kept: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(monkeypatch, method)
    assert seen.outcome.status is Status.DONE
    # Under GMP this over-corrects: dense weights with the spread of sparse ones.
    sparse = small.table("supar", width=64, density=0.25).rule("hidden").init_std
    assert seen.prepared.parameterization.rule("hidden").init_std == sparse
    layers = masked_layers(seen.prepared.model)
    assert layers.keys() == seen.start.keys()
    for name, layer in layers.items():
        start = seen.start[name]
        assert int(start.count_nonzero()) == kept * start.numel(), name
        # 1,024 weights at least: the relative standard error is under 2.3 %.
        assert float(start[start != 0].std()) == pytest.approx(sparse, rel=0.1), name
        assert int(layer.weight_mask.sum()) == layer.weight.numel() // 4, name
        assert not torch.equal(layer.weight_mask, start != 0), name
    assert zeros_under_masks(seen.prepared.model)


@pytest.mark.parametrize("method", METHODS)
def test_dense_trial_trains_as_without_a_method(method: str) -> None:
    # The paper's grid has the dense net too; so do the dense rows of the static sweep elsewhere.
    params = point(method, density=1.0, last_update=2, update_interval=2)
    context = small.Context(dynamic_sweep, params)
    outcome = dynamic_trial.train_dynamic(params, context)
    assert outcome.rows == train_gpt(plain(RatePoint, params), context).rows
