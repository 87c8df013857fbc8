"""Local training as a function: SGD beside torch's, memories, buffers, bad clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import HarnessError, SpecError
from reproductions.asymvalley.method.federated.algorithms import (
    FedAvg,
    FedDyn,
    FedProx,
    FedSign,
    Moon,
)
from reproductions.asymvalley.method.federated.client import (
    ClientData,
    LocalSettings,
    _cuts,
    train_client,
)
from reproductions.asymvalley.method.federated.flat import FlatNet, State
from tests.reproductions.asymvalley.method.federated.small import LOCAL, SmallNet, client, flat

FLOAT32 = {"rtol": 2e-5, "atol": 1e-6}
DATA = client(20, 1)


def train(images: Tensor, labels: Tensor) -> object:
    net, data = flat(), ClientData(images, labels)
    return train_client(net, net.state(), data, {}, algorithm=FedAvg(), settings=LOCAL, seed=0)


def by_torch(
    state: State, data: ClientData, settings: LocalSettings, seed: int, mu: float, gamma: float
) -> State:
    """Train with torch's own SGD and clipping, and the whole loss in one graph."""
    module = SmallNet()
    module.load_state_dict(state)
    module.train()
    start = [parameter.detach().clone() for parameter in module.parameters()]
    optimizer = torch.optim.SGD(
        module.parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
    generator = torch.Generator().manual_seed(seed)
    count = len(data.labels_S)
    for _ in range(settings.epochs):
        order = torch.randperm(count, generator=generator)
        for rows in order.split(settings.batch_size):
            optimizer.zero_grad()
            loss = F.cross_entropy(module(data.images_SCHW[rows]), data.labels_S[rows])
            for now, before in zip(module.parameters(), start, strict=True):
                loss = loss + mu / 2 * (now - before).square().sum()
                kept = (before > 0) * torch.sigmoid(now) + (before < 0) * torch.sigmoid(-now)
                loss = loss - gamma * kept.sum()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), settings.clip_norm)
            optimizer.step()
    return module.state_dict()


@pytest.mark.parametrize("clip_norm", [100.0, 0.2])
@pytest.mark.parametrize(("mu", "gamma"), [(0.3, 0.0), (0.0, 0.05)])
def test_training_is_that_of_torch(clip_norm: float, mu: float, gamma: float) -> None:
    settings, data, net = replace(LOCAL, clip_norm=clip_norm), client(20, 1), flat(3)
    state = net.state()
    algorithm = FedSign(gamma=gamma) if gamma else FedProx(mu=mu)
    result = train_client(net, state, data, {}, algorithm=algorithm, settings=settings, seed=7)
    expected = by_torch(state, data, settings, 7, mu, gamma)
    assert result.state.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(result.state[name], value, **FLOAT32, msg=name)
    assert not torch.equal(result.state["conv.weight"], state["conv.weight"])


HARDLY = replace(LOCAL, lr=1e-12)


@pytest.mark.parametrize("algorithm", [FedAvg(), FedSign(gamma=1.0), Moon(mu=1.0)])
def test_a_client_starts_from_the_state_that_it_received(algorithm: FedAvg) -> None:
    """Whatever its algorithm did with the net before."""
    net, other, received = flat(9), flat(4), flat(3)
    before = net.theta_N.clone()
    memory = other.state() if isinstance(algorithm, Moon) else {}
    result = train_client(
        net, received.state(), client(20, 1), memory, algorithm=algorithm, settings=HARDLY, seed=7
    )
    assert torch.allclose(received.vector_of(result.state), received.theta_N, atol=1e-7)
    for elsewhere in (before, other.theta_N):
        assert not torch.allclose(elsewhere, received.theta_N, atol=1e-2)


def test_feddyn_client_keeps_its_gradient() -> None:
    net, algorithm = flat(), FedDyn(a=0.5)
    state = net.state()
    before = net.vector_of(state)
    memory: dict[str, Tensor] = {}
    gradient_N = torch.zeros_like(before)
    for seed in range(2):
        result = train_client(
            net, state, client(20, 1), memory, algorithm=algorithm, settings=LOCAL, seed=seed
        )
        gradient_N = gradient_N - 0.5 * (net.vector_of(result.state) - before)
        torch.testing.assert_close(result.memory["gradient"], gradient_N, **FLOAT32)
        memory = result.memory


def test_moon_keeps_the_local_model_and_refers_to_it_in_eval_mode() -> None:
    net, algorithm, data = flat(), Moon(mu=1.0), client(20, 1)
    state = net.state()
    result = train_client(net, state, data, {}, algorithm=algorithm, settings=LOCAL, seed=0)
    assert result.extra_loss == 0.0
    assert all(torch.equal(result.memory[name], result.state[name]) for name in state)
    received = algorithm.begin(net, state, data.images_SCHW, result.memory)
    assert received.features_GSD is not None
    assert not received.features_GSD.requires_grad
    for reference, held in zip(received.features_GSD, (state, result.memory), strict=True):
        module = SmallNet()
        module.load_state_dict(held)
        torch.testing.assert_close(reference, module.eval().features(data.images_SCHW))
        assert not torch.allclose(reference, module.train().features(data.images_SCHW))


def test_fedsign_pulls_signs_to_the_global_ones() -> None:
    net = flat()
    state = net.state()
    plain, signed = (
        train_client(net, state, client(20, 1), {}, algorithm=a, settings=LOCAL, seed=0)
        for a in (FedAvg(), FedSign(gamma=0.3))
    )
    assert plain.same_sign_ratio < signed.same_sign_ratio <= 1.0
    changed = net.vector_of(plain.state) * net.vector_of(state)
    assert plain.same_sign_ratio == (changed > 0).double().mean().item()


class Centred(SmallNet):
    """It subtracts a running mean that no state has."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.register_buffer("mean", torch.zeros(5), persistent=False)

    def features(self, x_BCHW: Tensor) -> Tensor:
        found = super().features(x_BCHW)
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * found.detach().mean(0)
        return found - self.mean


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (SmallNet, lambda module: module.zero_grad()),
        (SmallNet, lambda module: module.to(memory_format=torch.channels_last)),
        (SmallNet, lambda module: setattr(module, "classifier", nn.Linear(5, 3))),
        (Centred, lambda module: module(torch.ones(8, 2, 4, 4))),
    ],
)
def test_what_was_done_to_the_net_before_changes_no_bit(
    kind: type[SmallNet], change: Callable[[nn.Module], object]
) -> None:
    net = FlatNet(kind())
    state = net.state()
    results = []
    for _ in range(2):
        results.append(
            train_client(net, state, DATA, {}, algorithm=FedAvg(), settings=LOCAL, seed=0).state
        )
        change(net.module)
    assert all(torch.equal(results[1][name], value) for name, value in results[0].items())
    assert not torch.equal(results[1]["conv.weight"], state["conv.weight"])


@pytest.mark.parametrize("begins_frozen", [True, False])
def test_parameters_that_are_frozen_or_unfrozen_later_are_told(begins_frozen: bool) -> None:
    """The first would never move, and the second decay and feel every penalty."""
    module = SmallNet()
    module.conv.requires_grad_(not begins_frozen)
    net = FlatNet(module)
    module.conv.requires_grad_(begins_frozen)
    with pytest.raises(SpecError, match=r"parameter conv\.bias was added, removed, frozen or"):
        train_client(net, net.state(), DATA, {}, algorithm=FedAvg(), settings=LOCAL, seed=0)


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [1]), (8, [8]), (9, [9]), (10, [8, 2]), (17, [8, 9]), (24, [8] * 3)]
)
def test_no_batch_holds_one_sample_where_others_are(count: int, sizes: list[int]) -> None:
    cuts = _cuts(count, 8)
    rows = [row for cut in cuts for row in range(count)[cut]]
    assert rows == list(range(count))
    assert [len(range(count)[cut]) for cut in cuts] == sizes


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: client(0, 0), "a client has 0 images and 0 labels"),
        (lambda: ClientData(DATA.images_SHWC, DATA.labels_S.float()), "a client's labels of shape"),
        (lambda: train(DATA.images_SHWC, DATA.labels_S + 1), "has label 3, and the net 3 classes"),
        (
            lambda: train(DATA.images_SHWC.double(), DATA.labels_S),
            r"images are torch\.float64 and its net torch\.float32",
        ),
        (lambda: FlatNet(nn.Linear(2, 2)), "Linear lacks `features` or `classifier`"),
        (lambda: replace(LOCAL, lr=0.0), "lr and clip_norm must be positive"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(HarnessError, match=said):
        make()
