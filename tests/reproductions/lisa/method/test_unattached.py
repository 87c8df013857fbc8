"""A Lisa that was made and never attached does not let everything train in silence."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

import pytest
from torch.optim.optimizer import _global_optimizer_pre_hooks

from harness.errors import RunError, SpecError
from reproductions.lisa import Lisa
from tests.reproductions.lisa.method.test_trainer import trainer_of
from tests.reproductions.lisa.small import adamw, assert_same, batches, llama, train


def test_no_optimizer_steps_the_blocks_of_a_lisa_that_was_not_attached() -> None:
    model, before = llama(), llama()
    lisa = Lisa(model, gamma=1, period=2, seed=0)
    with pytest.raises(RunError, match=r"never attached.*lisa.attach\(optimizer\)"):
        train(model, adamw(model), batches(1))
    assert_same(model, before)
    train(model, lisa.attach(adamw(model)), batches(3))
    assert lisa.step == 3


def test_a_trainer_that_lisa_was_not_attached_to_stops_at_its_first_step(tmp_path: Path) -> None:
    model = llama()
    lisa = Lisa(model, gamma=1, period=2, seed=0)
    with pytest.raises(RunError, match=r"attach_to_trainer\(lisa, trainer\)"):
        trainer_of(model, tmp_path).train()
    with warnings.catch_warnings(record=True) as seen:
        del lisa
        gc.collect()
    assert not seen


def test_a_lisa_that_is_thrown_away_is_warned_of_and_no_longer_in_the_way() -> None:
    model, before = llama(), len(_global_optimizer_pre_hooks)
    with pytest.warns(RuntimeWarning, match="thrown away without being attached"):
        Lisa(model, gamma=1, period=2, seed=0)
    train(model, adamw(model), batches(1))
    assert len(_global_optimizer_pre_hooks) == before


def test_who_was_told_or_has_attached_is_not_warned() -> None:
    before = len(_global_optimizer_pre_hooks)
    # Recorded: an error within a finalizer would reach nobody.
    with warnings.catch_warnings(record=True) as seen:
        with pytest.raises(SpecError, match="gamma=9"):
            Lisa(llama(), gamma=9, period=2, seed=0)
        with pytest.raises(SpecError, match="the optimizer lacks"):
            refused()
        lisa = Lisa(llama(), gamma=1, period=2, seed=0)
        lisa.attach(adamw(lisa.model))
        lisa.detach()
        train(lisa.model, adamw(lisa.model), batches(1))
        del lisa
        gc.collect()
    assert not [each for each in seen if each.category is RuntimeWarning]
    assert len(_global_optimizer_pre_hooks) == before


def refused() -> None:
    model = llama()
    Lisa(model, gamma=1, period=2, seed=0).attach(adamw(model.model.layers[0]))
