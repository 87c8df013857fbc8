"""Training of image classifiers: steps, schedule, augmentation, resuming."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from harness.store import checkpoint as checkpoint_module
from reproductions.asymvalley.models.pairs import training_of
from reproductions.asymvalley.models.training import (
    augmented,
    epoch_batches,
    train,
)
from tests.reproductions.asymvalley.small import small_data, small_net, state_of

BASE = training_of("smoke", "vgg16_cifar10", seed=0)
SETTINGS = replace(BASE, epochs=2, lr=0.05, batch_size=8, weight_decay=1e-3)
DATA = small_data(num_test=20)
IMAGES, LABELS = DATA.test_images, DATA.test_labels


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def fit(model: nn.Module, *, seed: int = 0, **told: Any) -> bool:
    return train(model, IMAGES, LABELS, SETTINGS, generator=seeded(seed), **told)


def test_steps_are_those_of_momentum_with_coupled_decay() -> None:
    """Against the update written out: v <- 0.9 v + g + wd * w, w <- w - lr * v."""
    model, by_hand = small_net(), small_net()
    assert fit(model)
    by_hand.train()
    velocity = {name: torch.zeros_like(p) for name, p in by_hand.named_parameters()}
    generator, step, num_steps = seeded(), 0, 2 * 3
    for _ in range(2):
        for part in torch.randperm(20, generator=generator).split(8):
            loss = F.cross_entropy(by_hand(IMAGES[part]), LABELS[part])
            grads = torch.autograd.grad(loss, list(by_hand.parameters()))
            lr = 0.05 * (1 + math.cos(math.pi * step / num_steps)) / 2
            with torch.no_grad():
                for (name, p), grad in zip(by_hand.named_parameters(), grads, strict=True):
                    velocity[name] = 0.9 * velocity[name] + grad + 1e-3 * p
                    p -= lr * velocity[name]
            step += 1
    for name, value in by_hand.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], value, rtol=1e-4, atol=1e-5)


def test_resumed_training_equals_uninterrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_module, "EVERY_S", 0.0)
    whole = small_net()
    fit(whole)
    path = tmp_path / "state.safetensors"

    class Interrupted(Exception):
        pass

    def stop(epoch: int) -> None:
        if epoch == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        fit(small_net(), after_epoch=stop, checkpoint=path)
    resumed, epochs = small_net(seed=5), []
    # Model, optimizer and generator come from the checkpoint, whatever is handed in.
    fit(resumed, seed=9, after_epoch=epochs.append, checkpoint=path)
    assert epochs == [2]
    for name, value in state_of(whole).items():
        assert torch.equal(resumed.state_dict()[name], value), name


def test_a_loss_that_is_not_finite_ends_the_training() -> None:
    model = small_net()
    with torch.no_grad():
        model[0].weight.fill_(float("nan"))
    epochs: list[int] = []
    assert not fit(model, after_epoch=epochs.append)
    assert epochs == []


def test_every_image_is_seen_once_an_epoch() -> None:
    batches = [x for x, _ in epoch_batches(IMAGES, LABELS, SETTINGS, seeded())]
    assert [len(x) for x in batches] == [8, 8, 4]
    seen = torch.cat(batches)
    found, wanted = (torch.sort(x.sum(dim=(1, 2, 3))).values for x in (seen, IMAGES))
    assert torch.equal(found, wanted)


def test_augmented_images_are_crops_of_padded_ones_or_their_mirrors() -> None:
    original = torch.rand(40, 2, 6, 6, generator=seeded()) + 1.0
    changed = augmented(original, seeded(1))
    assert changed.shape == original.shape
    padded = F.pad(original, (4, 4, 4, 4))
    num_flipped, places = 0, set()
    for image, whole in zip(changed, padded, strict=True):
        windows = {
            (flip, top, left): whole[:, top : top + 6, left : left + 6].flip(-1)
            if flip
            else whole[:, top : top + 6, left : left + 6]
            for flip in (False, True)
            for top in range(9)
            for left in range(9)
        }
        found = [place for place, window in windows.items() if torch.equal(window, image)]
        assert found
        num_flipped += found[0][0]
        places.add(found[0][1:])
    assert 8 < num_flipped < 32
    assert len(places) > 20
