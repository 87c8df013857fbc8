"""Statistics of batch normalisation against all images at once, of every kind of layer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from harness.errors import SpecError
from reproductions.asymvalley.method.batch_norm import recalibrate
from reproductions.asymvalley.method.curve import Walk
from reproductions.asymvalley.method.layout import layout_of
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


def test_dropout_is_off_while_statistics_are_estimated() -> None:
    with_dropout, without = small_net(dropout=0.5), small_net()
    images = small_data().statistics_images
    assert images is not None
    for model in (with_dropout, without):
        recalibrate(model, [images])
    assert torch.equal(with_dropout[5].running_mean, without[5].running_mean)


class OwnBatchNorm(nn.modules.batchnorm._BatchNorm):
    """As libraries derive it, with any number of axes."""

    def _check_input_dim(self, input: Tensor) -> None:
        pass


def with_norms(kind: type[nn.modules.batchnorm._BatchNorm]) -> nn.Sequential:
    """Return the small net with another kind of batch normalisation."""
    net = small_net()
    for place, width in ((1, 4), (5, 6)):
        norm = kind(width)
        norm.load_state_dict(net[place].state_dict())
        net[place] = norm
    return net.eval()


@pytest.mark.parametrize("kind", [nn.SyncBatchNorm, OwnBatchNorm])
def test_every_kind_of_batch_norm_is_estimated(
    kind: type[nn.modules.batchnorm._BatchNorm],
) -> None:
    net, plain, data = with_norms(kind), small_net(), small_data()
    assert int(layout_of(net).mask("bn").sum()) == 2 * (4 + 6)
    for model in (net, plain):
        recalibrate(model, data.statistics_images.split(10))  # type: ignore[union-attr]
    assert same_statistics(net, plain)
    assert not same_statistics(plain, small_net())
    step = torch.ones(layout_of(net).size)
    curves = [Walk(m, data, bn_stats="recalibrate").curve(step, [0.1]) for m in (net, plain)]
    assert curves[0] == curves[1]
    with pytest.raises(SpecError, match="'none' for a model with batch normalisation"):
        Walk(net, data, bn_stats="none")


@pytest.fixture
def process_group() -> Iterator[None]:
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("process_group")
def test_synchronised_batch_norm_waits_for_no_rank() -> None:
    net, plain, images = with_norms(nn.SyncBatchNorm), small_net(), small_data().statistics_images
    for model in (net, plain):
        recalibrate(model, images)  # type: ignore[arg-type]
    assert same_statistics(net, plain)
    # Training goes on as before, which on a CPU is refused.
    with pytest.raises(ValueError, match="to be on GPU"):
        net.train()(images)


def test_lazy_layers_are_refused_until_they_have_a_shape() -> None:
    data = small_data()
    for norm in (nn.LazyBatchNorm2d(), nn.LazyBatchNorm2d(affine=False)):
        net = nn.Sequential(nn.Conv2d(1, 4, 3), norm, nn.Flatten(), nn.Linear(144, 3))
        with pytest.raises(SpecError, match=r"1\.\w+ has no shape yet: run the lazy model"):
            recalibrate(net, [data.test_images])
        with pytest.raises(SpecError, match=r"1\.\w+ has no shape yet"):
            Walk(net, data, bn_stats="recalibrate")
        net.eval()(data.test_images)
        Walk(net, data, bn_stats="recalibrate").at(layout_of(net).flatten(net.state_dict()))


def test_a_last_batch_of_one_image_joins_the_one_before_it() -> None:
    data, net, by_hand = small_data(num_statistics=21), flat_net(), flat_net()
    by_hand.load_state_dict(net.state_dict())
    images = data.statistics_images
    assert images is not None
    walk = Walk(net, data, bn_stats="recalibrate")
    recalibrate(by_hand, [images[:10], images[10:]])
    assert same_statistics(walk.moved(walk.weights_P), by_hand)


def test_one_image_alone_is_refused_and_leaves_no_traces() -> None:
    net = flat_net()
    with pytest.raises(SpecError, match="one image has no variance"):
        recalibrate(net, torch.ones(1, 1, 8, 8).split(1))
    assert net[2].momentum == nn.BatchNorm1d(1).momentum
    assert not any(module.training for module in net.modules())


def test_loaders_and_a_tensor_are_batches() -> None:
    data = small_data()
    images = data.test_images
    expected, found, whole, at_once = (small_net() for _ in range(4))
    recalibrate(expected, images.split(10))
    recalibrate(found, DataLoader(TensorDataset(images, data.test_labels), batch_size=10))
    assert same_statistics(found, expected)
    recalibrate(whole, [images])
    recalibrate(at_once, images)
    assert same_statistics(at_once, whole)
    assert not same_statistics(whole, expected)


def test_no_images_to_estimate_statistics_from_are_refused() -> None:
    with pytest.raises(SpecError, match="no images"):
        recalibrate(small_net(), [torch.zeros(0, 1, 8, 8)])
