"""A training run that was stopped and resumed ends bit for bit like one that was not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from harness.store import checkpoint as checkpoint_module
from reproductions.nets.gpt import GPT
from reproductions.supar.models import training as training_module
from reproductions.supar.models.text import Batch
from reproductions.supar.models.training import TrainLog, build_adamw, train
from tests.reproductions.supar.small import SETTINGS, batches, gpt, table


class Killed(Exception):
    """Stands for the kill of the process."""


def _batches(stop_after: int | None = None) -> Iterator[Batch]:
    for number, batch in enumerate(batches()):
        if number == stop_after:
            raise Killed
        yield batch


def _run(path: Path | None, *, stop_after: int | None = None) -> tuple[GPT, TrainLog]:
    model = gpt(table())
    optimizer = build_adamw(model, table(), SETTINGS)
    return model, train(model, optimizer, _batches(stop_after), SETTINGS, checkpoint=path)


def test_resumed_run_equals_uninterrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "EVERY_S", -1.0)
    path = tmp_path / "state.safetensors"
    whole, whole_log = _run(None)
    with pytest.raises(Killed):
        _run(path, stop_after=7)
    assert path.exists()
    resumed, resumed_log = _run(path)
    assert torch.equal(whole_log.losses, resumed_log.losses)
    assert whole_log.clip_rate == resumed_log.clip_rate
    pairs = zip(whole.state_dict().items(), resumed.state_dict().values(), strict=True)
    for (name, expected), found in pairs:
        assert torch.equal(expected, found), name


def test_resumed_run_does_not_repeat_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_module, "EVERY_S", -1.0)
    path = tmp_path / "state.safetensors"
    with pytest.raises(Killed):
        _run(path, stop_after=7)
    seen = itertools.count()
    original = training_module._backward

    def counted(*args: object) -> torch.Tensor:
        next(seen)
        return original(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(training_module, "_backward", counted)
    _run(path)
    assert next(seen) == SETTINGS.num_steps - 7


def test_torn_checkpoint_starts_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "state.safetensors"
    path.write_bytes(b"\x10\x00")
    _, log = _run(path)
    _, whole = _run(None)
    assert torch.equal(log.losses, whole.losses)
    assert "starting over" in caplog.text
