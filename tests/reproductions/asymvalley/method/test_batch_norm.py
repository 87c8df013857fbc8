"""Statistics of batch normalisation against all images at once, of every kind of layer."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from harness.errors import SpecError
from reproductions.asymvalley.method.batch_norm import recalibrate
from reproductions.asymvalley.method.curve import Walk
from tests.reproductions.asymvalley.small import small_data, small_net


def flat_net() -> nn.Sequential:
    """Return a net whose maps are one pixel: one image has no variance."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 5), nn.BatchNorm1d(5), nn.Linear(5, 3))


def same_statistics(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(*pair) for pair in zip(one.buffers(), other.buffers(), strict=True))


def test_statistics_of_one_batch_are_those_of_all_images() -> None:
    model, images = small_net(), small_data().statistics_images
    assert images is not None
    recalibrate(model, [images])
    first = model[0](images).double()
    mean, var = first.mean(dim=(0, 2, 3)), first.var(dim=(0, 2, 3), unbiased=True)
    torch.testing.assert_close(model[1].running_mean.double(), mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(model[1].running_var.double(), var, rtol=1e-5, atol=1e-6)
    second = model[4](torch.relu((first - mean[None, :, None, None])
        / (first.var(dim=(0, 2, 3), unbiased=False) + model[1].eps).sqrt()[None, :, None, None]
        * model[1].weight.double()[None, :, None, None]
        + model[1].bias.double()[None, :, None, None]).float()).double()  # fmt: skip
    expected = second.mean(dim=(0, 2, 3))
    torch.testing.assert_close(model[5].running_mean.double(), expected, rtol=1e-4, atol=1e-5)


def test_uneven_batches_weigh_as_many_images_as_they_have() -> None:
    model, images = small_net(), small_data(num_statistics=24).statistics_images
    assert images is not None
    recalibrate(model, images.split(10))  # 10, 10 and 4
    first = model[0](images).double()
    mean = first.mean(dim=(0, 2, 3))
    torch.testing.assert_close(model[1].running_mean.double(), mean, rtol=1e-5, atol=1e-6)
    parts = [part.var(dim=(0, 2, 3)) * len(part) / 24 for part in first.split(10)]
    expected = torch.stack(parts).sum(dim=0)
    torch.testing.assert_close(model[1].running_var.double(), expected, rtol=1e-5, atol=1e-6)
    assert int(model[1].num_batches_tracked) == 3
    assert model[1].momentum == nn.BatchNorm2d(1).momentum
    assert not model.training
    assert not model[1].training


def test_a_last_batch_of_one_image_joins_the_one_before_it() -> None:
    data, net, by_hand = small_data(num_statistics=21), flat_net(), flat_net()
    by_hand.load_state_dict(net.state_dict())
    images = data.statistics_images
    assert images is not None
    walk = Walk(net, data, bn_stats="recalibrate")
    recalibrate(by_hand, [images[:10], images[10:]])
    assert same_statistics(walk.moved(walk.weights_P), by_hand)


def test_synchronised_batch_norm_is_estimated_of_this_process_alone() -> None:
    net, plain, data = small_net(), small_net(), small_data()
    net[1] = nn.SyncBatchNorm(4)
    net[1].load_state_dict(plain[1].state_dict())
    for model in (net, plain):
        recalibrate(model.eval(), data.statistics_images.split(10))  # type: ignore[union-attr]
    assert same_statistics(net, plain)
    assert not same_statistics(plain, small_net())


def test_a_loader_with_labels_is_its_images_and_dropout_is_off() -> None:
    data = small_data()
    expected, found = small_net(), small_net(dropout=0.5)
    recalibrate(expected, data.test_images.split(10))
    recalibrate(found, DataLoader(TensorDataset(data.test_images, data.test_labels), batch_size=10))
    assert same_statistics(found, expected)


@pytest.mark.parametrize(
    ("net", "images", "said"),
    [
        (flat_net(), torch.ones(1, 1, 8, 8), "one image has no variance"),
        (small_net(), torch.zeros(0, 1, 8, 8), "no images"),
        (nn.Sequential(nn.LazyBatchNorm2d()), torch.ones(2, 1, 8, 8), "has no shape yet"),
    ],
)
def test_what_has_no_statistics_is_refused(net: nn.Module, images: Tensor, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        recalibrate(net, [images])
