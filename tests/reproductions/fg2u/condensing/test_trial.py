"""Condensation: what trials share, what they keep, and that nets are trained as torch does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy

from reproductions.fg2u.condensing.experiment import point, runs
from reproductions.fg2u.condensing.trial import condensing_rows
from reproductions.fg2u.models.condensation import (
    NET,
    Digits,
    accuracies,
    condensation,
    outer_batches,
    split_digits,
)
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.mlp import scores
from tests.reproductions.fg2u.trials import context

FAST = {"num_nets": 2, "test_steps": 3, "log_every": 1}


def test_training_digits_judge_images_and_fresh_nets_score_them_on_the_others(
    tmp_path: Path,
) -> None:
    params = replace(point("smoke", "rgu", seed=0), **FAST)
    ctx = context(runs, params, tmp_path)
    noise, first, *_ = condensing_rows(params, ctx)
    train, test = split_digits(ctx)
    images = torch.rand(10, 8, 8, generator=generator_of(ctx, "images"))
    judge = next(outer_batches(ctx, train, params.batch_size))
    value, _ = condensation(params.depth).unroll(images, judge)
    assert first["outer_loss"] == pytest.approx(float(value))
    nets = NET.drawn(generator_of(ctx, "evaluation"), params.num_nets)
    found = accuracies(images, test, nets, num_steps=params.test_steps)
    assert noise["test_accuracy"] == float(found.mean())


def test_images_are_kept_as_pixels(tmp_path: Path) -> None:
    params = replace(point("smoke", "rgu", seed=0), lr=5.0)
    ctx = context(runs, params, tmp_path)
    condensing_rows(replace(params, **FAST), ctx)
    (file,) = tmp_path.rglob("images.safetensors")
    images = load_file(file)["images"]
    assert images.shape == (10, 8, 8)
    assert (images.min(), images.max()) == (0.0, 1.0)


def test_no_digit_is_in_both_splits_and_seeds_draw_others(tmp_path: Path) -> None:
    train, test = split_digits(context(runs, point("smoke", "rgu", seed=0), tmp_path))
    assert (len(train.labels), len(test.labels)) == (1297, 500)
    assert 0.0 <= float(train.images.min()) < float(train.images.max()) == 1.0
    pixels = torch.cat([train.images, test.images]).flatten(1).sum(0)
    other_train, other_test = split_digits(context(runs, point("smoke", "rgu", seed=1), tmp_path))
    assert torch.allclose(
        pixels, torch.cat([other_train.images, other_test.images]).flatten(1).sum(0)
    )
    assert not torch.equal(test.labels, other_test.labels)


def test_several_nets_at_once_train_as_each_does_under_torch() -> None:
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(10, 8, 8, generator=generator)
    test = Digits(
        images=torch.rand(200, 8, 8, generator=generator),
        labels=torch.randint(10, (200,), generator=generator),
    )
    init = NET.drawn(generator, 3)
    found = accuracies(images, test, init, num_steps=20)
    for net in range(3):
        weights = [layer[net].clone().requires_grad_() for layer in init]
        optimizer = torch.optim.SGD(weights, lr=0.05, momentum=0.9)
        for _ in range(20):
            optimizer.zero_grad()
            cross_entropy(scores(weights, images), torch.arange(10)).backward()
            optimizer.step()
        right = scores(weights, test.images).argmax(-1) == test.labels
        # One image in 200 may lie on the border.
        assert float(found[net]) == pytest.approx(float(right.double().mean()), abs=0.0051)
    assert len(set(found.tolist())) > 1
