"""Sets of images: what trials share and keep, how nets are trained, and what bad input says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import avg_pool2d, cross_entropy

from harness.declare import Status
from harness.errors import SpecError
from reproductions.fg2u.image_sets import trial
from reproductions.fg2u.image_sets.cells import SMOKE
from reproductions.fg2u.image_sets.data import (
    Labelled,
    labelled,
    real_images,
    splits_of,
)
from reproductions.fg2u.image_sets.experiment import (
    one_phase,
    runs,
    second_phase,
    without_descent,
)
from reproductions.fg2u.image_sets.params import Condensation
from reproductions.fg2u.image_sets.problem import (
    Given,
    accuracies,
    condensation,
    first_weights,
    net_of,
)
from reproductions.fg2u.models.draws import generator_of
from tests.reproductions.fg2u.trials import context

CELL = SMOKE[0]


def row_of(params: Condensation, folder: Path) -> dict[str, Any]:
    (row,) = trial.condensed_rows(params, context(runs, params, folder)).rows
    return dict(row)


def drawn(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_images_as_they_are_drawn_take_no_gradient(tmp_path: Path) -> None:
    row = row_of(without_descent(CELL, "real", seed=0), tmp_path)
    assert row["estimates_s"] == 0.0 and row["outer_loss"] is row["peak_bytes"] is None
    assert row["ratio"] == 10 / 1297 and 0.0 <= row["test_accuracy"] <= 1.0


def test_fresh_nets_are_scored_on_test_images(tmp_path: Path) -> None:
    params = without_descent(CELL, "real", seed=0)
    ctx = context(runs, params, tmp_path)
    splits = splits_of(params, ctx)
    images = real_images(params, splits.train, generator_of(ctx, "images"))
    found = accuracies(params, images, splits.test, generator_of(ctx, "evaluation"))
    assert row_of(params, tmp_path)["test_accuracy"] == pytest.approx(sum(found) / len(found))


def test_a_descent_that_leaves_the_numbers_is_recorded_as_one(tmp_path: Path) -> None:
    params = replace(one_phase(CELL, "neumann", seed=0), inner_lr=1e30)
    outcome = trial.condensed_rows(params, context(runs, params, tmp_path))
    assert outcome.status is Status.DIVERGED
    assert "neumann" in outcome.note and "not finite" in outcome.note
    assert outcome.rows[0]["test_accuracy"] is None


def test_nets_train_on_images_as_under_torch() -> None:
    """Momentum, cosine and weight decay are torch's: its decay is twice ours."""
    params = replace(one_phase(CELL, "rgu", seed=0), inner_lr=0.1, test_steps=12, num_nets=1)
    images = torch.rand(10, 1, 8, 8, generator=drawn(0))
    test = Labelled(images=torch.rand(50, 1, 8, 8, generator=drawn(1)), labels=torch.arange(50) % 7)
    weights = [w.requires_grad_() for w in first_weights(params, drawn(2))]
    optimizer = torch.optim.SGD(weights, lr=0.1, momentum=0.9, weight_decay=2e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
    problem, given = condensation(params, num_steps=12), None
    state = problem.start(images, Given(init=first_weights(params, drawn(2)), judge=test))
    for number in range(12):
        optimizer.zero_grad()
        cross_entropy(net_of(params).scores(weights, images), torch.arange(10)).backward()
        optimizer.step()
        schedule.step()
        state = problem.step(state, images, given, number)
    for ours, theirs in zip(state.params, weights, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-4)
    right = net_of(params).scores(weights, test.images).argmax(1) == test.labels
    (found,) = accuracies(params, images, test, drawn(2))
    # One image may lie on the border.
    assert found == pytest.approx(float(right.double().mean()), abs=0.021)


def test_smaller_inner_batches_go_through_the_images_in_turn() -> None:
    params = replace(one_phase(CELL, "rgu", seed=0), ipc=2, inner_batch=10)
    images, weights = torch.rand(20, 1, 8, 8, generator=drawn(0)), first_weights(params, drawn(1))
    loss = condensation(params, num_steps=3).gradient_step.loss
    whole = condensation(replace(params, inner_batch=0), num_steps=3).gradient_step.loss
    first, second, third = (float(loss(weights, images, None, number)) for number in range(3))
    assert first == third != second
    assert (first + second) / 2 == pytest.approx(float(whole(weights, images, None, 0)), rel=1e-5)


def test_each_phase_descends_along_its_own_batches(tmp_path: Path) -> None:
    second = second_phase(SMOKE[1], "hessian-free", seed=0)
    splits = splits_of(second, context(runs, second.first(), tmp_path))
    images = trial.noise(second, drawn(0))
    losses = []
    for params, stream in ((second.first(), ""), (second, "second ")):
        one = replace(params, steps=1, accumulate=1)
        ctx = context(runs, second.first(), tmp_path)
        given = next(trial._supply(one, ctx, splits.train, stream))
        value, _ = condensation(one, num_steps=one.depth).unroll(images, given)
        losses.append(trial.descended(one, ctx, images.clone(), splits.train).outer_loss)
        assert losses[-1] == pytest.approx(float(value), rel=1e-5)
    assert losses[0] != losses[1]


def test_pixels_are_pooled_into_the_unit_interval_and_colours_come_first() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (3, 4, 4, 3), dtype=np.uint8)
    found = labelled(pixels, np.arange(3), 2, white=255.0)
    expected = avg_pool2d(torch.tensor(pixels).permute(0, 3, 1, 2) / 255.0, 2)
    assert torch.allclose(found.images, expected) and found.labels.dtype is torch.int64
    framed = labelled(pixels[:, :, :, 0], np.arange(3), 3, white=255.0).images
    assert float(framed[0, 0, 0, 0]) == pytest.approx(pixels[0, 0, 0, 0] / 255.0 / 4, rel=1e-6)
    with pytest.raises(SpecError, match="a divisor of 7"):
        labelled(np.zeros((1, 7, 7), np.uint8), np.arange(1), 4, white=255.0)


def test_real_images_are_of_the_class_that_their_place_says() -> None:
    params = replace(one_phase(CELL, "rgu", seed=0), ipc=3)
    labels = torch.arange(100) % 10
    train = Labelled(images=labels.view(100, 1, 1, 1).float(), labels=labels)
    images = real_images(params, train, drawn(0))
    assert images.flatten().tolist() == [float(i % 10) for i in range(30)]
