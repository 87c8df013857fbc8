"""The simulator must be at least 2.5 times as fast as Flower's, both on two cores.

Rounds after the first, so that the start of processes is in neither; same clients, seeds and net,
in the shapes of Table 1 at cpu. Both train a client by the same code: what differs is the way
there and back. What training alone takes bounds what any simulator could reach by this code: the
note says it, what training spends its time in, and what training clients as one net would give.
"""

from __future__ import annotations

import itertools
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from harness.measure.contention import OthersWatch
from harness.measure.fresh_process import call_fresh
from tests.benchmarks.conftest import GoalFixture

if TYPE_CHECKING:
    from reproductions.asymvalley.federated.experiment import Cell
    from reproductions.asymvalley.method.federated.algorithms import FedAvg

NUM_ROUNDS, NUM_REPEATS, CORES = 9, 3, 2


@pytest.mark.parametrize(
    ("dataset", "name"),
    [("cinic10", "federated_rounds"), ("cifar10", "federated_rounds_colour")],
    ids=["grey", "colour"],
)
def test_rounds_on_two_cores(goal: GoalFixture, dataset: str, name: str) -> None:
    """Time FedSign's rounds in the simulator, on two processes, and on Flower."""
    if find_spec("flwr") is None:
        pytest.skip("needs Flower, which has an environment of its own: make setup EXTRAS=dev,fed")
    if len(os.sched_getaffinity(0)) < CORES:
        pytest.skip("needs two cores")
    params, rounds = _params(dataset, tried=goal.tried), goal.size(NUM_ROUNDS, tried=2)
    here_s, there_s, alone_s, others = [], [], [], []
    training = _training(params)
    for _ in range(goal.size(NUM_REPEATS)):
        # Flower's workers are nobody's children: while they live they would count as others.
        watch = OthersWatch()
        here_s.append(_round_s(params, rounds, _here))
        others.append(watch.cores())
        there_s.append(_round_s(params, rounds, _on_flower))
        # In a process of its own, as workers are, and in turn with the rounds.
        given = {"dataset": dataset, "num_clients": rounds, "tried": goal.tried}
        alone_s.append(call_fresh(training_alone_s, given))
    here, there = (list(itertools.chain(*times)) for times in (here_s, there_s))
    gains = [b / a for a, b in zip(here, there, strict=True)]
    training_s = min(alone_s)
    here_median_s, there_median_s = statistics.median(here), statistics.median(there)
    chosen = int(params.participation * params.num_clients)
    side = params.image_size // params.pool
    goal(name, limit=2.5, unit="ratio", direction="at_least")(
        there_median_s / here_median_s,
        samples=gains,
        seconds=here,
        other_cores=None if None in others else max(filter(None, others), default=0.0),
        note=f"seconds a round, Flower's over the simulator's, {CORES} clients side by side in"
        f" processes of one thread in both (medians {there_median_s:.3f} and {here_median_s:.3f});"
        f" training alone takes {training_s:.3f}, {math.ceil(chosen / CORES)} clients being one"
        f" process's, so that by this code none that gives whole clients to processes could be"
        f" more than {there_median_s / training_s:.2f} times as fast as Flower; {training};"
        f" FedSign,"
        f" {params.num_clients} clients of {params.num_train // params.num_clients} images"
        f" of {side}x{side}x{params.channels}, {chosen} a round,"
        f" {params.local_epochs} epochs in batches of {params.batch_size},"
        f" ConvNet of width {params.width}; rounds 2 to {rounds}, nothing evaluated",
    )


def _params(dataset: str, *, tried: bool) -> Cell:
    """Return a trial of FedSign, five clients a round, on a data set; a small one to be tried."""
    from reproductions.asymvalley.federated.experiment import CPU_COLOUR, CPU_GREY, Cell

    shape = {"cifar10": CPU_COLOUR, "cinic10": CPU_GREY}[dataset]
    found = Cell(alpha=10.0, algorithm="fedsign", candidates="0.001", seed=0, **shape)
    if not tried:
        return found
    return replace(found, num_train=found.num_clients * found.batch_size, local_epochs=1)


def training_alone_s(dataset: str, num_clients: int, *, tried: bool) -> float:
    """Return the seconds that a round's training alone takes at least, by so many clients.

    A client is trained whole, by one thread: whoever has most of them is done last.
    """
    params = _params(dataset, tried=tried)
    train, clients = _trainer(params), _clients(params)[:num_clients]
    with _one_thread():
        # As rounds are timed after the first: a process that is new is slower.
        for data in clients:
            train(data)
        taken = []
        for data in clients:
            start_s = time.perf_counter()
            train(data)
            taken.append(time.perf_counter() - start_s)
    chosen = int(params.participation * params.num_clients)
    return statistics.median(taken) * math.ceil(chosen / CORES)


def _training(params: Cell) -> str:
    """Say what a client's training spends its time in, and what stacking clients would give."""
    from reproductions.asymvalley.federated.trial import build_net
    from tests.benchmarks.client_profile import shares_of_operators, together_over_single

    chosen = int(params.participation * params.num_clients)
    clients = _clients(params)[: math.ceil(chosen / CORES)]
    nets = [build_net(params, seed=seed, device="cpu") for seed in range(len(clients))]
    with _one_thread():
        shares = shares_of_operators(partial(_trainer(params), clients[0]))
        vmapped, grouped = together_over_single(nets, clients, params.batch_size)
    return (
        f"of which {shares}; gradients of {len(clients)} clients as one net, equal to 1e-5, take"
        f" {vmapped:.2f} (vmap) and {grouped:.2f} (convolutions in groups) times as long as one"
        " after another"
    )


def _trainer(params: Cell) -> Callable[[Any], None]:
    """Return what trains a client for a round, on its data."""
    from reproductions.asymvalley.federated.trial import build_net, settings_with
    from reproductions.asymvalley.method.federated.client import train_client
    from reproductions.asymvalley.method.federated.flat import FlatNet

    net, algorithm = FlatNet(build_net(params, seed=0, device="cpu")), _timed([])
    state, local = net.state(), settings_with(params, "0.001").local

    def train(data: Any) -> None:
        train_client(net, state, data, {}, algorithm=algorithm, settings=local, seed=0)

    return train


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have torch use one thread."""
    import torch

    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(num_threads)


def _round_s(params: Cell, rounds: int, run: Callable[..., None]) -> list[float]:
    """Return the seconds of all rounds but the first."""
    from reproductions.asymvalley.federated.trial import build_net, settings_with

    ends_s: list[float] = []
    settings = replace(settings_with(params, "0.001"), rounds=rounds)
    make_net = partial(build_net, params, seed=0, device="cpu")
    run(make_net, _timed(ends_s), _clients(params), settings)
    return [b - a for a, b in itertools.pairwise(ends_s)]


def _here(make_net: Any, algorithm: FedAvg, clients: list[Any], settings: Any) -> None:
    from reproductions.asymvalley.method.federated.simulator import simulate

    with _one_thread():
        simulate(
            make_net,
            algorithm,
            clients,
            settings,
            test=clients[0],
            eval_rounds=(),
            seed=0,
            workers=CORES,
            kind="processes",
        )


def _on_flower(make_net: Any, algorithm: FedAvg, clients: list[Any], settings: Any) -> None:
    from reproductions.asymvalley.method.federated.flower_app import simulate_on_flower

    simulate_on_flower(make_net, algorithm, clients, settings, seed=0, workers=CORES)


def _timed(ends_s: list[float]) -> FedAvg:
    """Return FedSign that notes when the server is done with a round."""
    from tests.benchmarks.timed_algorithm import TimedFedSign

    return TimedFedSign(gamma=1e-3, ends_s=ends_s)


def _clients(params: Cell) -> list[Any]:
    """Return clients of random images, equally many each."""
    import torch

    from reproductions.asymvalley.method.federated.client import ClientData

    generator = torch.Generator().manual_seed(0)
    count = params.num_train // params.num_clients
    side = params.image_size // params.pool
    shape = (count, side, side, params.channels)
    return [
        ClientData(
            torch.randn(shape, generator=generator),
            torch.randint(10, (count,), generator=generator),
        )
        for _ in range(params.num_clients)
    ]
