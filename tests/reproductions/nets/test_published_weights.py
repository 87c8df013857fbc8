"""The CIFAR ResNets with the weights that were published for them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from harness.data import load as datasets
from reproductions.nets.resnet import ResNet, ResNetConfig

pytestmark = pytest.mark.data


def _staged(name: str) -> dict[str, Tensor]:
    return {key: torch.tensor(value) for key, value in datasets.load(name).arrays.items()}


@pytest.fixture(scope="module")
def cifar_test() -> tuple[Tensor, Tensor]:
    arrays = datasets.load("cifar10_10k_5k").arrays
    pixels_BCHW = torch.tensor(arrays["x_test"]).permute(0, 3, 1, 2).float() / 255
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    images_BCHW = (pixels_BCHW - mean[:, None, None]) / std[:, None, None]
    labels_B = torch.tensor(arrays["y_test"]).long()
    return images_BCHW.contiguous(memory_format=torch.channels_last), labels_B


def _accuracy(depth: int, images_BCHW: Tensor, labels_B: Tensor) -> float:
    config = ResNetConfig(num_classes=10, in_channels=3, image_size=32, depth=depth, width=16)
    net = ResNet(config, generator=torch.Generator())
    net.load_state_dict(_staged(f"resnet{depth}_cifar10"), strict=True)
    net = net.eval().to(memory_format=torch.channels_last)
    with torch.inference_mode():
        right = [
            net(x).argmax(1) == y
            for x, y in zip(images_BCHW.split(250), labels_B.split(250), strict=True)
        ]
    return float(torch.cat(right).double().mean())


def test_published_resnet20_has_its_stated_accuracy(cifar_test: tuple[Tensor, Tensor]) -> None:
    # Stated with the weights: 91.48 % of these 5,000 images; one of them is 0.02 %.
    assert len(cifar_test[0]) == 5000
    assert _accuracy(20, *cifar_test) == pytest.approx(0.9148, abs=0.00041)


@pytest.mark.parametrize("depth", [44, 56])
def test_published_deeper_resnets_load(depth: int, cifar_test: tuple[Tensor, Tensor]) -> None:
    images_BCHW, labels_B = cifar_test
    assert _accuracy(depth, images_BCHW[:500], labels_B[:500]) > 0.9
