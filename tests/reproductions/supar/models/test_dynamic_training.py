"""RigL and gradual pruning in the training loop: exact masks, and runs that were stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from harness.store import checkpoint as checkpoint_module
from reproductions.nets.gpt import GPT
from reproductions.supar.method.dynamic import (
    Gmp,
    RegrownMoments,
    UpdateSchedule,
    attach_full_masks,
)
from reproductions.supar.method.masks import linear_layers, masked_layers
from reproductions.supar.models.text import Batch
from reproductions.supar.models.training import (
    Seeds,
    Topology,
    TrainLog,
    build_adamw,
    build_gpt,
    train,
)
from tests.reproductions.supar.dynamic_nets import rigl, zeros_under_masks
from tests.reproductions.supar.small import SETTINGS, batches, config, table


class Killed(Exception):
    """Stands for the kill of the process."""


@dataclass(frozen=True)
class GptRun:
    """A trained net and what is left of its training."""

    model: GPT
    optimizer: torch.optim.Optimizer
    log: TrainLog


def _gpt_run(method: str, path: Path | None, *, stop_after: int | None = None) -> GptRun:
    """Train a small GPT under a method; `kept` and `zeroed` name RigL by its option."""
    parameterization = table()
    model = build_gpt(
        config(parameterization),
        parameterization,
        Seeds(init=0, masks=1000),
        mask_density=1.0 if method == "gmp" else 0.25,
    )
    if method == "gmp":
        attach_full_masks(model, linear_layers(model, exclude=()))
    optimizer = build_adamw(model, parameterization, SETTINGS)
    schedule = UpdateSchedule.evenly(SETTINGS.num_steps, num_updates=3, part=0.75)
    topology: Topology
    if method == "gmp":
        topology = Gmp(model=model, optimizer=optimizer, schedule=schedule, density=0.25)
    else:
        state: RegrownMoments = "kept" if method == "kept" else "zeroed"
        topology = rigl(model, optimizer, schedule=schedule, regrown_moments=state)
    log = train(
        model, optimizer, _batches(stop_after), SETTINGS, topology=topology, checkpoint=path
    )
    return GptRun(model, optimizer, log)


def _batches(stop_after: int | None) -> Iterator[Batch]:
    for number, batch in enumerate(batches()):
        if number == stop_after:
            raise Killed
        yield batch


@pytest.mark.parametrize("stop_after", [4, 5, 8])
@pytest.mark.parametrize("method", ["zeroed", "kept", "gmp"])
def test_resumed_run_equals_uninterrupted(
    method: str, stop_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Updates come at steps 3 and 6, and 9 for GMP.
    monkeypatch.setattr(checkpoint_module, "EVERY_S", -1.0)
    path = tmp_path / "state.safetensors"
    whole = _gpt_run(method, None)
    with pytest.raises(Killed):
        _gpt_run(method, path, stop_after=stop_after)
    assert path.exists()
    resumed = _gpt_run(method, path)
    assert torch.equal(whole.log.losses, resumed.log.losses)
    pairs = zip(whole.model.state_dict().items(), resumed.model.state_dict().values(), strict=True)
    for (name, expected), found in pairs:
        assert torch.equal(expected, found), name


@pytest.mark.parametrize(
    ("method", "num_optimizer_steps"), [("zeroed", 10), ("kept", 10), ("gmp", 12)]
)
def test_training_loop_leaves_exact_masks(method: str, num_optimizer_steps: int) -> None:
    run = _gpt_run(method, None)
    assert bool(torch.isfinite(run.log.losses).all())
    assert zeros_under_masks(run.model)
    for layer in masked_layers(run.model).values():
        assert int(layer.weight_mask.sum()) == layer.weight.numel() // 4
        assert int(run.optimizer.state[layer.weight]["step"]) == num_optimizer_steps
