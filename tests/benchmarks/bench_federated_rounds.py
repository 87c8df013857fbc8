"""The simulator must be at least 2.5 times as fast as Flower's, both on two cores.

Rounds after the first, so that the start of processes is in neither; same clients, seeds and net,
in the shapes of Table 1 at cpu. Both train a client by the same code: what differs is the way
there and back.
"""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.benchmarks.goals import GoalFixture

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
    params = _params(dataset)
    here_s, there_s = [], []
    for _ in range(NUM_REPEATS):
        here_s.append(statistics.median(_round_s(params, _here)))
        there_s.append(statistics.median(_round_s(params, _on_flower)))
    gains = [there / here for there, here in zip(there_s, here_s, strict=True)]
    chosen = int(params.participation * params.num_clients)
    side = params.image_size // params.pool
    goal(name, limit=2.5, unit="ratio", direction="at_least")(
        statistics.median(gains),
        samples=gains,
        note=f"seconds a round, Flower's over the simulator's, {CORES} clients side by side in"
        f" processes of one thread in both (medians {statistics.median(there_s):.3f} and"
        f" {statistics.median(here_s):.3f}); FedSign,"
        f" {params.num_clients} clients of {params.num_train // params.num_clients} images"
        f" of {side}x{side}x{params.channels}, {chosen} a round,"
        f" {params.local_epochs} epochs in batches of {params.batch_size},"
        f" ConvNet of width {params.width}; rounds 2 to {NUM_ROUNDS}, nothing evaluated",
    )


def _params(dataset: str) -> Cell:
    """Return FedSign's first trial in Table 1 at cpu on a data set."""
    from reproductions.asymvalley.federated.experiment import grid

    cells = grid("cpu")
    return next(cell for cell in cells if (cell.algorithm, cell.dataset) == ("fedsign", dataset))


def _round_s(params: Cell, run: Callable[..., None]) -> list[float]:
    """Return the seconds of all rounds but the first."""
    from reproductions.asymvalley.federated.trial import build_net, settings_with

    ends_s: list[float] = []
    settings = replace(settings_with(params, "0.001"), rounds=NUM_ROUNDS)
    make_net = partial(build_net, params, seed=0, device="cpu")
    run(make_net, _timed(ends_s), _clients(params), settings)
    return [b - a for a, b in itertools.pairwise(ends_s)]


def _here(make_net: Any, algorithm: FedAvg, clients: list[Any], settings: Any) -> None:
    import torch

    from reproductions.asymvalley.method.federated.simulator import simulate

    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
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
    finally:
        torch.set_num_threads(num_threads)


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
