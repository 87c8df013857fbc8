"""Whole runs: equal bits where they are promised, and what the rounds are made of."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch
from torch import Tensor

from harness.errors import SpecError
from reproductions.asymvalley.method.federated.algorithms import (
    FedAvg,
    FedDyn,
    FedPan,
    FedSign,
    Moon,
    Server,
)
from reproductions.asymvalley.method.federated.client import train_client
from reproductions.asymvalley.method.federated.simulator import (
    Run,
    accuracy_of,
    sampled_clients,
    simulate,
)
from reproductions.asymvalley.method.federated.workers import Kind
from tests.harness.processes import assert_gone
from tests.reproductions.asymvalley.method.federated.small import (
    LOCAL,
    ROUNDS,
    SmallNet,
    clients,
    flat,
)
from tests.waiting import wait_for

FORK = get_context("fork")


def run(
    algorithm: FedAvg,
    *,
    workers: int = 1,
    kind: Kind = "threads",
    rounds: int = 3,
    seed: int = 0,
    lr: float = 0.1,
) -> Run:
    data = clients()
    return simulate(
        SmallNet,
        algorithm,
        data,
        replace(ROUNDS, rounds=rounds, local=replace(LOCAL, lr=lr)),
        test=data[0],
        eval_rounds=(rounds,),
        seed=seed,
        workers=workers,
        kind=kind,
    )


def same(left: Run, right: Run) -> bool:
    pairs = ((left.server.state, right.server.state), (left.server.memory, right.server.memory))
    return all(
        a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a) for a, b in pairs
    )


def test_gamma_zero_is_fedavg_to_the_bit_over_rounds() -> None:
    assert same(run(FedSign(gamma=0.0)), run(FedAvg()))
    assert not same(run(FedSign(gamma=1e-3)), run(FedAvg()))


@pytest.mark.parametrize(
    ("algorithm", "start"),
    [(FedDyn(a=0.1), "spawn"), (Moon(mu=1.0), "fork"), (FedPan(encoding="1:add:0.15"), "fork")],
)
def test_neither_threads_nor_processes_change_a_bit(
    algorithm: FedAvg, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those with a memory of a client or of the server, and one that changes the net.

    start: once as it is, which takes an import of torch for each process.
    """
    assert same(run(algorithm, workers=3), run(algorithm))
    assert not same(run(algorithm), run(algorithm, seed=1))
    assert not same(run(algorithm), run(FedAvg()))
    context = get_context(start)
    monkeypatch.setattr(torch.multiprocessing, "get_context", lambda method: context)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        one, two = run(algorithm), run(algorithm, workers=2, kind="processes")
    finally:
        torch.set_num_threads(num_threads)
    assert same(one, two)
    assert one.logs == two.logs


class EndlessNet(SmallNet):
    """A net whose first batch never ends; its process writes its id to the current folder."""

    def features(self, x_BCHW: Tensor) -> Tensor:
        Path(str(os.getpid())).touch()
        time.sleep(600)
        return x_BCHW


def run_endlessly(folder: Path) -> None:
    """Train on processes that are forks, as the one that calls this is."""
    os.chdir(folder)
    torch.multiprocessing.get_context = lambda method: FORK
    data = clients()
    simulate(
        EndlessNet, FedAvg(), data, ROUNDS, test=data[0], eval_rounds=(1,), seed=0, workers=2,
        kind="processes",
    )  # fmt: skip


def test_processes_die_amid_a_batch_with_the_one_that_started_them(tmp_path: Path) -> None:
    runner = FORK.Process(target=run_endlessly, args=(tmp_path,))
    runner.start()
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    runner.kill()
    runner.join()
    assert_gone([int(told.name) for told in tmp_path.iterdir()])


def test_global_model_is_evaluated_with_averaged_statistics() -> None:
    result = run(FedAvg())
    module = SmallNet()
    module.load_state_dict(result.server.state)
    data = clients()[0]
    right = (module.eval()(data.images_SCHW).argmax(1) == data.labels_S).double().mean()
    assert result.logs[-1].accuracy == right.item()
    assert [log.accuracy for log in result.logs[:-1]] == [None, None]


def test_clients_are_sampled_without_replacement_alike_for_all_algorithms() -> None:
    settings = replace(ROUNDS, rounds=200, participation=0.3)
    rounds = list(sampled_clients(10, settings, seed=4))
    assert {len(chosen) for chosen in rounds} == {3}
    assert all(list(chosen) == sorted(chosen) for chosen in rounds)
    counts = [sum(k in chosen for chosen in rounds) for k in range(10)]
    assert min(counts) > 30  # 60 expected, standard deviation 6.5
    assert len({seed for chosen in rounds for seed in chosen.values()}) == 600
    (one,) = sampled_clients(4, replace(ROUNDS, rounds=1, participation=0.1), seed=0)
    assert len(one) == 1


@pytest.mark.parametrize("algorithm", [Moon(mu=1.0), FedDyn(a=0.1)], ids=lambda a: a.name)
def test_memories_are_those_of_each_client_s_last_turn(algorithm: FedAvg) -> None:
    """Three rounds of all clients, written out."""
    data, net, everyone = clients((9, 20)), flat(), replace(ROUNDS, participation=1.0)
    server = Server(state=net.state())
    memories: list[dict[str, Tensor]] = [{}, {}]
    for chosen in sampled_clients(2, everyone, seed=0):
        results = [
            train_client(
                net, server.state, data[k], memories[k], algorithm=algorithm,
                settings=LOCAL, seed=chosen[k],
            )
            for k in range(2)
        ]  # fmt: skip
        memories = [result.memory for result in results]
        states = [result.state for result in results]
        server = algorithm.aggregate(server, states, num_clients=2, learnable=net.names)
    found = simulate(
        SmallNet, algorithm, data, everyone, test=data[0], eval_rounds=(), seed=0
    ).server
    for ours, theirs in ((found.state, server.state), (found.memory, server.memory)):
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_divergence_is_told_and_not_averaged_on() -> None:
    result = run(FedAvg(), lr=1e38)
    assert result.diverged == "a parameter, a buffer or a loss is not finite after round 1"
    assert result.logs == ()


def test_logits_that_are_not_finite_are_no_right_answers() -> None:
    """The largest of them is the first class, for which a share of the labels stands."""
    net, data = flat(), clients((40,))[0]
    state = net.state()
    state["classifier.bias"].fill_(torch.nan)
    assert 0 < int((data.labels_S == 0).sum()) < 40
    assert accuracy_of(net, state, data) == 0.0


def test_statistics_that_overflow_are_divergence() -> None:
    """One client's images do it: losses and parameters stay finite, and so would an accuracy."""
    data = clients()
    data[1] = replace(data[1], images_SHWC=data[1].images_SHWC * 1e19)
    result = simulate(
        SmallNet, FedAvg(), data, replace(ROUNDS, participation=1.0), test=data[0],
        eval_rounds=(1,), seed=0,
    )  # fmt: skip
    assert torch.isinf(result.server.state["norm.running_var"]).any()
    assert "not finite after round 1" in result.diverged


class Masked(SmallNet):
    """It has a mask as attention does."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.full((2, 2), -torch.inf).triu(1))


def test_a_mask_of_infinities_is_no_divergence() -> None:
    data = clients()
    told = [
        simulate(kind, FedAvg(), data, ROUNDS, test=data[0], eval_rounds=(3,), seed=0)
        for kind in (SmallNet, Masked)
    ]
    assert [result.diverged for result in told] == ["", ""]
    assert told[0].logs == told[1].logs


def test_threads_that_train_one_net_are_told() -> None:
    net, data = SmallNet(), clients()
    with pytest.raises(SpecError, match="make_net returned weights that another thread trains"):
        simulate(
            lambda: net, FedAvg(), data, ROUNDS, test=data[0], eval_rounds=(), seed=0, workers=2
        )
