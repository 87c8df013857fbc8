"""Flower and the in-process simulator lead to the same global model."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from safetensors.torch import load
from sklearn.datasets import load_digits

from harness.errors import EnvError, RunError
from reproductions.asymvalley.federated.experiment import grid
from reproductions.asymvalley.federated.trial import build_net
from reproductions.asymvalley.method.federated.algorithms import (
    FedAvg,
    FedDyn,
    FedPan,
    FedProx,
    FedSign,
    Moon,
)
from reproductions.asymvalley.method.federated.client import ClientData
from reproductions.asymvalley.method.federated.flower_app import _packed, simulate_on_flower
from reproductions.asymvalley.method.federated.simulator import (
    sampled_clients,
    simulate,
    stack_images,
)
from reproductions.asymvalley.method.federated.split import dirichlet_split
from tests.checkout import ROOT
from tests.method_pages import examples
from tests.reproductions.asymvalley.method.federated.small import LOCAL, ROUNDS, SmallNet, client

NET = replace(next(grid("smoke")), width=3)
# Found by name in Flower's processes, which then need nothing of the tests.
make_net = partial(build_net, NET, seed=1, device="cpu")
SETTINGS = replace(ROUNDS, rounds=4, local=replace(LOCAL, epochs=1, batch_size=16))
EVERY = [
    FedAvg(),
    FedProx(mu=0.1),
    Moon(mu=1.0),
    FedDyn(a=0.1),
    FedPan(encoding="1:mul:0.05"),
    FedSign(gamma=1e-3),
]
TOLERANCE = 1e-5


def digits() -> list[ClientData]:
    """Return six clients with unlike classes and numbers of digits."""
    x, y = load_digits(return_X_y=True)
    x, y = x[:500].reshape(-1, 8, 8, 1) / 8.0 - 1.0, y[:500]
    parts = dirichlet_split(y, num_clients=6, alpha=0.5, seed=0)
    images, labels = torch.from_numpy(x), torch.from_numpy(y)
    return [stack_images(images[part], labels[part], device="cpu") for part in parts]


@pytest.fixture(autouse=True)
def no_other_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start a cluster for each run: Flower would join one that runs here, such as Ray's tests."""
    monkeypatch.setenv("RAY_ADDRESS", "local")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Compute here as Flower's processes do: two threads split sums, and rounding grows."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)


@pytest.mark.fed
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("algorithm", EVERY, ids=lambda algorithm: algorithm.name)
def test_global_model_equals_the_simulators(algorithm: FedAvg) -> None:
    data = digits()
    here = simulate(make_net, algorithm, data, SETTINGS, test=data[0], eval_rounds=(), seed=3)
    # A process more takes seconds to start: one run has two, whose replies come in any order.
    workers = 2 if algorithm.name == "fedavg" else 1
    there = simulate_on_flower(make_net, algorithm, data, SETTINGS, seed=3, workers=workers)
    drawn = [tuple(chosen) for chosen in sampled_clients(len(data), SETTINGS, seed=3)]
    assert there.trained == tuple(drawn)
    # Whoever has a memory meets it again: some client takes part twice.
    assert len({client for chosen in drawn for client in chosen}) < sum(map(len, drawn))
    start = make_net().state_dict()
    for left, right in (
        (here.server.state, there.server.state),
        (here.server.memory, there.server.memory),
    ):
        assert left.keys() == right.keys()
        assert {name: value.dtype for name, value in left.items()} == {
            name: value.dtype for name, value in right.items()
        }
        gaps = {name: float((left[name] - right[name]).abs().max()) for name in left}
        assert max(gaps.values(), default=0.0) <= TOLERANCE, gaps
    moved = (here.server.state["classifier.weight"] - start["classifier.weight"]).abs().max()
    assert moved > 100 * TOLERANCE


@pytest.mark.fed
def test_the_page_s_examples_run_and_end_with_the_simulators_model(tmp_path: Path) -> None:
    """All of them in one script, as a newcomer puts them together."""
    shown = examples("asymvalley", {"pandas", "matplotlib", "flwr"})
    script = tmp_path / "example.py"
    # As in Flower's processes: two threads split sums.
    script.write_text("import torch\n\ntorch.set_num_threads(1)\n" + "\n".join(shown))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    trained, gap = done.stdout.splitlines()[-2:]
    assert [len(clients) for clients in ast.literal_eval(trained)] == [2, 2]
    assert float(gap) <= TOLERANCE


@pytest.mark.fed
def test_failing_client_ends_the_run_with_its_reason() -> None:
    data = [client(20, seed) for seed in range(2)]
    foreign = ClientData(torch.zeros(4, 2, 2, 5), torch.zeros(4, dtype=torch.int64))
    everyone = replace(SETTINGS, participation=1.0)
    with pytest.raises(RunError, match="a client failed on Flower"):
        simulate_on_flower(SmallNet, FedAvg(), [*data, foreign], everyone, seed=0)


def test_every_second_sample_travels_as_well_as_all() -> None:
    data = client(20, 1)
    found = load(_packed(ClientData(data.images_SHWC[::2], data.labels_S[::2])))
    assert torch.equal(found["images"], data.images_SHWC[::2])
    assert torch.equal(found["labels"], data.labels_S[::2])


@pytest.mark.skipif(find_spec("flwr") is not None, reason="Flower is installed here")
def test_absent_flower_is_told_with_what_to_install() -> None:
    with pytest.raises(EnvError, match=r"paper-reproductions\[fed\]"):
        simulate_on_flower(SmallNet, FedAvg(), [client(20, 0)], SETTINGS, seed=0)
