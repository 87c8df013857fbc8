"""FedSign and five other federated algorithms, usable alone.

    net = FlatNet(module)  # any module with `features` and `classifier`
    algorithm = FedSign(gamma=1e-3)
    algorithm.prepare(module)
    result = train_client(
        net, server.state, data, memory, algorithm=algorithm, settings=settings, seed=seed
    )
    server = algorithm.aggregate(server, states, num_clients=100, learnable=net.names)

`simulate` does this for many clients over many rounds in one process, `simulate_on_flower` on
Flower (extra `fed`). Client and server rule are functions of what they are handed, so any framework
can call them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reproductions.asymvalley.method.federated.algorithms import (
        FedAvg,
        FedDyn,
        FedPan,
        FedProx,
        FedSign,
        Moon,
        Server,
        uniform_average,
    )
    from reproductions.asymvalley.method.federated.client import (
        ClientData,
        ClientResult,
        LocalSettings,
        RoundSettings,
        train_client,
    )
    from reproductions.asymvalley.method.federated.flat import FlatNet
    from reproductions.asymvalley.method.federated.flower_app import simulate_on_flower
    from reproductions.asymvalley.method.federated.simulator import simulate
    from reproductions.asymvalley.method.federated.split import dirichlet_split

__all__ = [
    "FedAvg",
    "FedProx",
    "Moon",
    "FedDyn",
    "FedPan",
    "FedSign",
    "Server",
    "uniform_average",
    "ClientData",
    "ClientResult",
    "train_client",
    "FlatNet",
    "LocalSettings",
    "RoundSettings",
    "simulate",
    "simulate_on_flower",
    "dirichlet_split",
]

_MODULES = ("algorithms", "client", "split", "simulator", "flower_app")


def __getattr__(name: str) -> Any:
    # Grids import this package too, and listing tasks must not load torch.
    for module in _MODULES if name in __all__ else ():
        found = import_module(f"{__name__}.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
