"""What Flower's client and server do: the algorithms of this package, packed into its records.

Imports Flower, so only `flower_app` imports this, and only when it runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import Strategy
from safetensors.torch import load_file
from torch import nn

from harness.errors import RunError
from reproductions.asymvalley.method.federated.algorithms import FedAvg, Server
from reproductions.asymvalley.method.federated.client import ClientData, RoundSettings, train_client
from reproductions.asymvalley.method.federated.flat import FlatNet, State
from reproductions.asymvalley.method.federated.simulator import sampled_clients

_START_UP_S = 300.0
"""Longest wait for all clients to tell who they are; the first one waits for its process."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What travels to a client's process with every message: neither data nor parameters."""

    folder: str
    """Where each client's data lie as <number>.safetensors; another one for every run."""
    make_net: Callable[[], nn.Module]
    algorithm: FedAvg
    settings: RoundSettings

    def net(self) -> FlatNet:
        """Return a new net, prepared by the algorithm."""
        module = self.make_net()
        self.algorithm.prepare(module)
        return FlatNet(module)


# A process keeps its net and the data it has read: Flower calls it anew for every message.
_nets: dict[str, FlatNet] = {}
_data: dict[tuple[str, int], ClientData] = {}


def client_app(work: Work) -> ClientApp:
    """Return the client: it tells its number, and trains from the state it is sent."""
    app = ClientApp()

    def tell(message: Message, context: Context) -> Message:
        return Message(RecordDict({"client": _number(context)}), reply_to=message)

    def train(message: Message, context: Context) -> Message:
        return _train(work, message, context)

    app.query()(tell)
    app.train()(train)
    return app


def _number(context: Context) -> ConfigRecord:
    return ConfigRecord({"number": int(context.node_config["partition-id"])})


def _train(work: Work, message: Message, context: Context) -> Message:
    """Train one round; a client's memory lies in the state that Flower keeps for it."""
    if work.folder not in _nets:
        # Flower was promised one core per client.
        torch.set_num_threads(1)
        _nets[work.folder] = work.net()
    number = _number(context)
    kept = context.state.get("memory")
    result = train_client(
        _nets[work.folder],
        _state(message.content["arrays"]),
        _data_of(work.folder, int(number["number"])),
        {} if kept is None else _state(kept),
        algorithm=work.algorithm,
        settings=work.settings.local,
        seed=int(message.content["config"]["seed"]),
    )
    if result.memory:
        context.state["memory"] = ArrayRecord(result.memory)
    content = RecordDict({"arrays": ArrayRecord(result.state), "client": number})
    return Message(content, reply_to=message)


def _data_of(folder: str, number: int) -> ClientData:
    if (folder, number) not in _data:
        tensors = load_file(Path(folder) / f"{number}.safetensors")
        _data[folder, number] = ClientData(tensors["images"], tensors["labels"])
    return _data[folder, number]


def _state(arrays: ArrayRecord) -> State:
    return dict(arrays.to_torch_state_dict())


def server_app(work: Work, *, num_clients: int, seed: int) -> tuple[ServerApp, AlgorithmStrategy]:
    """Return the server, and the strategy that will hold what it has done.

    Its app raises RunError if a client fails or does not answer.
    """
    strategy = AlgorithmStrategy(work, num_clients=num_clients, seed=seed)
    app = ServerApp()

    def main(grid: Grid, context: Context) -> None:
        strategy.nodes = _nodes(grid, num_clients)
        arrays = ArrayRecord(strategy.server.state)
        strategy.start(grid, arrays, num_rounds=work.settings.rounds)

    app.main()(main)
    return app, strategy


def _nodes(grid: Grid, num_clients: int) -> dict[int, int]:
    """Return Flower's name of each client's node, by the client's number."""
    end_s = time.monotonic() + _START_UP_S
    while len(ids := list(grid.get_node_ids())) < num_clients:
        if time.monotonic() > end_s:
            raise RunError(f"Flower has {len(ids)} of {num_clients} clients, and adds no more")
        time.sleep(0.05)
    asked = [Message(RecordDict(), dst_node_id=node, message_type="query") for node in ids]
    replies = _by_client(grid.send_and_receive(asked, timeout=_START_UP_S))
    if len(replies) != num_clients:
        raise RunError(f"{len(replies)} of {num_clients} clients told Flower who they are")
    return {number: reply.metadata.src_node_id for number, reply in replies.items()}


def _by_client(replies: Iterable[Message]) -> dict[int, Message]:
    """Return replies by client, ascending. Raises RunError with the reason of one that failed."""
    found = {}
    for reply in replies:
        if reply.has_error():
            raise RunError(f"a client failed on Flower: {reply.error.reason}")
        found[int(reply.content["client"]["number"])] = reply
    return dict(sorted(found.items()))


class AlgorithmStrategy(Strategy):  # type: ignore[misc]  # Flower has an environment of its own
    """An algorithm's server rule as a Flower strategy.

    server: as it is after the last round; trained: the clients of every finished round.
    """

    def __init__(self, work: Work, *, num_clients: int, seed: int) -> None:
        net = work.net()
        self.server = Server(state=net.state())
        self.nodes: dict[int, int] = {}
        self.trained: list[tuple[int, ...]] = []
        self._algorithm, self._num_clients = work.algorithm, num_clients
        self._learnable = net.names
        self._rounds = sampled_clients(num_clients, work.settings, seed)
        self._chosen: dict[int, int] = {}

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterator[Message]:
        """Yield a message to each of the round's clients: global state, and the client's seed."""
        self._chosen = next(self._rounds)
        for client, seed in self._chosen.items():
            content = RecordDict({"arrays": arrays, "config": ConfigRecord({"seed": seed})})
            yield Message(content, dst_node_id=self.nodes[client], message_type="train")

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord, None]:
        """Return the new global state; clients are added in ascending order."""
        answered = _by_client(replies)
        missing = sorted(self._chosen.keys() - answered.keys())
        if missing:
            raise RunError(f"round {server_round}: no answer from clients {missing}")
        self.server = self._algorithm.aggregate(
            self.server,
            [_state(reply.content["arrays"]) for reply in answered.values()],
            num_clients=self._num_clients,
            learnable=self._learnable,
        )
        self.trained.append(tuple(answered))
        return ArrayRecord(self.server.state), None

    def configure_evaluate(self, *_: Any) -> list[Message]:
        """Ask nobody: the global model is evaluated where its images are."""
        return []

    def aggregate_evaluate(self, *_: Any) -> None:
        """Return nothing, of no answers."""

    def summary(self) -> None:
        """Log nothing of its own."""
