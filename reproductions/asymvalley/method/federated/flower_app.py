"""The same algorithms on Flower: its messages, its simulation engine, its clients' state.

Clients and seeds are drawn as `simulate` draws them, a client trains by `train_client`, and the
server's rule is the algorithm's own; so the global model is that of `simulate` but for rounding.
Needs the extra `fed`. Nothing is sent to anyone: the telemetry of Flower and of Ray is off.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from torch import nn

from harness.atomic import write_bytes
from harness.errors import EnvError, RunError, SpecError
from reproductions.asymvalley.method.federated.algorithms import FedAvg, Server
from reproductions.asymvalley.method.federated.client import ClientData, RoundSettings
from reproductions.asymvalley.method.federated.workers import check_workers

_OFF = {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowerRun:
    """A finished simulation."""

    server: Server
    trained: tuple[tuple[int, ...], ...]
    """The clients of every round that answered, ascending, each by the number it gave itself."""


def simulate_on_flower(
    make_net: Callable[[], nn.Module],
    algorithm: FedAvg,
    clients: Sequence[ClientData],
    settings: RoundSettings,
    *,
    seed: int,
    workers: int = 1,
) -> FlowerRun:
    """Run all rounds on Flower's simulation engine, on the CPU.

    make_net, algorithm: as `simulate` has them; both are pickled.
    seed: of the choice of clients and of their order of samples, as in `simulate`.
    workers: processes that train clients of one round side by side, each on one core.
    A global model that is not finite is averaged on: look at the result.
    Raises SpecError for a number of workers or clients below 1, or data that are not on the CPU,
    EnvError where Flower is absent or was imported with its telemetry on, and RunError if a client
    fails or does not answer.
    """
    _check(clients, workers)
    _require_flower()
    with _environment(), tempfile.TemporaryDirectory() as folder:
        # Flower pickles a client's code into every message: its data must not travel with it.
        for number, data in enumerate(clients):
            write_bytes(Path(folder) / f"{number}.safetensors", _packed(data))
        from flwr.simulation import run_simulation

        from reproductions.asymvalley.method.federated import flower_roles as roles

        work = roles.Work(folder=folder, make_net=make_net, algorithm=algorithm, settings=settings)
        app, strategy = roles.server_app(work, num_clients=len(clients), seed=seed)
        run_simulation(
            app,
            roles.client_app(work),
            num_supernodes=len(clients),
            backend_config=_resources(workers),
        )
    if len(strategy.trained) != settings.rounds:
        raise RunError(f"Flower ended after {len(strategy.trained)} of {settings.rounds} rounds")
    return FlowerRun(server=strategy.server, trained=tuple(strategy.trained))


def _check(clients: Sequence[ClientData], workers: int) -> None:
    check_workers(workers, clients)
    if any(data.images_SHWC.device.type != "cpu" for data in clients):
        raise SpecError("Flower's clients train on the CPU here: put their data there")


def _resources(workers: int) -> dict[str, dict[str, float]]:
    """Return how Flower shares out the machine: a core per client, and nothing that listens."""
    return {
        "init_args": {"num_cpus": workers, "num_gpus": 0, "include_dashboard": False},
        "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
    }


def _require_flower() -> None:
    if find_spec("flwr") is None or find_spec("ray") is None:
        raise EnvError(
            "Flower and its simulation engine are not installed:"
            " pip install 'paper-reproductions[fed]' in an environment of their own"
        )
    name = "FLWR_TELEMETRY_ENABLED"
    # Flower reads it once, when it is imported.
    if "flwr" in sys.modules and os.environ.get(name) != "0":
        raise EnvError(f"Flower was imported with its telemetry on: set {name}=0 before that")


@contextmanager
def _environment() -> Iterator[None]:
    """Switch telemetry off for good, and undo what Flower does to PYTHONPATH."""
    os.environ.update(_OFF)
    before = os.environ.get("PYTHONPATH")
    try:
        yield
    finally:
        os.environ.pop("PYTHONPATH", None)
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _packed(data: ClientData) -> bytes:
    from safetensors.torch import save

    return save({"images": data.images_SHWC.contiguous(), "labels": data.labels_S.contiguous()})
