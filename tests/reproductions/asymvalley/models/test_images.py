"""Images of a trial: which they are, and by what they are normalised."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from harness.data import load as datasets
from reproductions.asymvalley.models.images import images_of
from reproductions.asymvalley.models.pairs import training_of
from tests.made_runs import MadeRun

POINT = training_of("smoke", "vgg16_cifar10", seed=0)
RUN = MadeRun({"seed": 0})


def test_smaller_images_are_means_of_squares() -> None:
    small = images_of(replace(POINT, image_size=4, normalisation="imagenet"), RUN)
    raw = torch.tensor(datasets.load("digits").arrays["x"][:100] / 16.0, dtype=torch.float64)
    means = raw.reshape(100, 4, 2, 4, 2).mean(dim=(2, 4))
    found = small.train_x[:, 0].double() * 0.229 + 0.485
    torch.testing.assert_close(found, means, rtol=1e-5, atol=1e-5)


def test_images_are_normalised_by_their_training_part() -> None:
    images = images_of(POINT, RUN)
    assert float(images.train_x.mean()) == pytest.approx(0.0, abs=1e-5)
    assert float(images.train_x.std()) == pytest.approx(1.0, abs=1e-3)
    pixels = torch.tensor(datasets.load("digits").arrays["x"] / 16.0, dtype=torch.float64)
    train, test = pixels[: POINT.num_train], pixels[-360:][: POINT.num_test]
    expected = (test - train.mean()) / train.std()
    torch.testing.assert_close(images.test_x[:, 0].double(), expected, rtol=1e-4, atol=1e-4)
    assert abs(float(images.test_x.mean())) > 1e-3


def test_statistics_are_estimated_from_training_images() -> None:
    images = images_of(replace(POINT, num_statistics=40), RUN)
    data = images.valley_data()
    assert data.statistics_images is not None
    assert torch.equal(data.statistics_images, images.train_x[:40])
    assert torch.equal(data.test_images, images.test_x)
