"""A run that was stopped and resumed ends bit for bit like one that was not, its masks too."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from harness.store import checkpoint as checkpoint_module
from reproductions.nets.gpt import GPT
from reproductions.supar.method.dynamic import Gmp, Rigl, UpdateSchedule, attach_full_masks
from reproductions.supar.method.masks import linear_layers, masked_layers
from reproductions.supar.models import training as training_module
from reproductions.supar.models.text import Batch
from reproductions.supar.models.training import Seeds, TrainLog, build_adamw, build_gpt, train
from tests.reproductions.supar.masked_nets import rigl, zeros_under_masks
from tests.reproductions.supar.small import TRAINING, batches, config, table

SCHEDULE = UpdateSchedule(num_steps=TRAINING.steps, interval=3, end_step=9)


class Killed(Exception):
    """Stands for the kill of the process."""


def _batches(stop_after: int | None = None) -> Iterator[Batch]:
    for number, batch in enumerate(batches()):
        if number == stop_after:
            raise Killed
        yield batch


def _run(
    path: Path | None, method: str = "static", *, stop_after: int | None = None
) -> tuple[GPT, TrainLog]:
    """Train a small GPT under a method; `kept` names RigL by its option."""
    rules, seeds = table(), Seeds(init=0, masks=1000)
    density = 1.0 if method == "gmp" else 0.25
    model = build_gpt(config(rules), rules, seeds, mask_density=density)
    if method == "gmp":
        attach_full_masks(model, linear_layers(model, exclude=()))
    optimizer = build_adamw(model, rules)
    topology: Rigl | Gmp | None = None
    if method == "gmp":
        topology = Gmp(model=model, optimizer=optimizer, schedule=SCHEDULE, density=0.25)
    elif method == "kept":
        topology = rigl(model, optimizer, schedule=SCHEDULE, regrown_moments="kept")
    log = train(
        model, optimizer, _batches(stop_after), TRAINING, topology=topology, checkpoint=path
    )
    return model, log


@pytest.mark.parametrize("method", ["static", "kept", "gmp"])
def test_resumed_run_equals_uninterrupted(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Updates come at steps 3 and 6, and 9 for GMP.
    monkeypatch.setattr(checkpoint_module, "EVERY_S", -1.0)
    path = tmp_path / "state.safetensors"
    whole, whole_log = _run(None, method)
    with pytest.raises(Killed):
        _run(path, method, stop_after=5)
    seen = itertools.count()
    original = training_module._backward

    def counted(*args: object) -> torch.Tensor:
        next(seen)
        return original(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(training_module, "_backward", counted)
    resumed, resumed_log = _run(path, method)
    assert next(seen) == TRAINING.steps - 5
    assert torch.equal(whole_log.losses, resumed_log.losses)
    assert whole_log.clip_rate == resumed_log.clip_rate
    pairs = zip(whole.state_dict().items(), resumed.state_dict().values(), strict=True)
    for (name, expected), found in pairs:
        assert torch.equal(expected, found), name
    assert zeros_under_masks(whole)
    for layer in masked_layers(whole).values():
        assert int(layer.weight_mask.sum()) == layer.weight.numel() // 4
