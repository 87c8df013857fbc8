"""Who trains a round's clients: this process, threads of it, or processes of their own.

All give the same bits, as every client's round is a function of what it is handed. Threads share
the interpreter's lock, so they pay where a step is one large kernel; small nets on a CPU want
processes, which start once (seconds) and are handed a state per client and round.
"""

from __future__ import annotations

import copy
import os
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import torch
import torch.multiprocessing

from harness.errors import RunError, SpecError
from harness.lifetime import die_with
from reproductions.asymvalley.method.federated.algorithms import FedAvg, Memory
from reproductions.asymvalley.method.federated.client import (
    ClientData,
    ClientResult,
    LocalSettings,
    train_client,
)
from reproductions.asymvalley.method.federated.flat import FlatNet, State

Kind = Literal["threads", "processes"]
TrainAll = Callable[[State, dict[int, Memory], dict[int, int]], dict[int, ClientResult]]
"""From the global state, the clients' memories, and each chosen client's seed to their results,
in the order of the chosen."""


def check_workers(workers: int, clients: Sequence[ClientData]) -> None:
    """Raise SpecError unless there is someone to train, and someone who trains."""
    if workers < 1 or not clients:
        raise SpecError(f"workers={workers}, {len(clients)} clients: need at least one of both")


@contextmanager
def client_pool(
    nets: Sequence[FlatNet],
    algorithm: FedAvg,
    clients: Sequence[ClientData],
    local: LocalSettings,
    *,
    workers: int,
    kind: Kind,
) -> Iterator[TrainAll]:
    """Give a function that trains a round's clients, `workers` of them side by side.

    nets: scratch nets, one per thread; one is enough for processes, which each have a copy.
    Raises SpecError for an unknown kind, processes whose clients' data are not on the CPU, or nets
    that share a weight.
    """
    if kind not in get_args(Kind):
        raise SpecError(f"kind={kind!r}: need one of {', '.join(get_args(Kind))}")
    trained = [id(p) for net in nets for p in net.module.parameters() if p.requires_grad]
    if len(set(trained)) < len(trained):
        raise SpecError(
            "make_net returned weights that another thread trains: have it make a new net at every"
            " call, or take one worker"
        )
    replicas = [_Replica(net, algorithm, clients, local) for net in nets]
    if workers == 1:
        yield lambda state, memories, chosen: {
            client: replicas[0].train(state, memories.get(client, {}), client, seed)
            for client, seed in chosen.items()
        }
    elif kind == "threads":
        # A new thread may start with another number of torch threads than its parent's.
        threads = torch.get_num_threads()
        with ThreadPoolExecutor(
            workers, initializer=torch.set_num_threads, initargs=(threads,)
        ) as pool:
            yield _side_by_side(pool, _borrowing(replicas), lambda tensors: tensors)
    else:
        with _processes(replicas[0], workers) as pool:
            yield _side_by_side(pool, _train_in_process, _plain)


def _side_by_side(
    pool: Executor, train: Callable[..., Any], packed: Callable[..., Any]
) -> TrainAll:
    """Return a function that has a pool train each of the chosen clients.

    packed: how tensors travel to it. Raises RunError where one of its processes died.
    """

    def train_all(
        state: State, memories: dict[int, Memory], chosen: dict[int, int]
    ) -> dict[int, ClientResult]:
        futures = {
            client: pool.submit(
                train, packed(state), packed(memories.get(client, {})), client, seed
            )
            for client, seed in chosen.items()
        }
        return {client: _unpacked(client, future) for client, future in futures.items()}

    return train_all


def _unpacked(client: int, future: Future[ClientResult]) -> ClientResult:
    try:
        result = future.result()
    except BrokenExecutor as error:
        raise RunError(
            f"a worker process died while it trained client {client}: look for a lack of memory,"
            " or take one worker"
        ) from error
    return replace(result, state=_tensors(result.state), memory=_tensors(result.memory))


class _Replica:
    """A scratch net with all that a client's training needs beside what a round hands in."""

    def __init__(
        self,
        net: FlatNet,
        algorithm: FedAvg,
        clients: Sequence[ClientData],
        local: LocalSettings,
    ) -> None:
        self.net, self.algorithm, self.clients, self.local = net, algorithm, clients, local

    def train(self, state: State, memory: Memory, client: int, seed: int) -> ClientResult:
        return train_client(
            self.net,
            state,
            self.clients[client],
            memory,
            algorithm=self.algorithm,
            settings=self.local,
            seed=seed,
        )


def _borrowing(replicas: Sequence[_Replica]) -> Callable[..., ClientResult]:
    """Return a function that trains a client in whichever net is idle."""
    idle: queue.SimpleQueue[_Replica] = queue.SimpleQueue()
    for replica in replicas:
        idle.put(replica)

    def train(state: State, memory: Memory, client: int, seed: int) -> ClientResult:
        replica = idle.get()
        try:
            return replica.train(state, memory, client, seed)
        finally:
            idle.put(replica)

    return train


def _processes(replica: _Replica, workers: int) -> ProcessPoolExecutor:
    if any(data.labels_S.device.type != "cpu" for data in replica.clients):
        raise SpecError("processes train on the CPU: take threads, or one worker, on a GPU")
    # The module and not its flat net, whose parameters would lose the memory they share.
    parts = (replica.net.module, replica.algorithm, list(replica.clients), replica.local)
    return ProcessPoolExecutor(
        workers,
        mp_context=torch.multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(os.getpid(), torch.get_num_threads(), *parts),
    )


_replicas: list[_Replica] = []
"""The one of a worker process; empty elsewhere."""


def _start(
    parent_pid: int,
    threads: int,
    module: torch.nn.Module,
    algorithm: FedAvg,
    clients: list[ClientData],
    local: LocalSettings,
) -> None:
    """Set a worker process up; it ends with the process that trains the rounds."""
    die_with(parent_pid)
    torch.set_num_threads(threads)
    # What torch hands to a process shares memory with it: statistics would be written by all.
    net = FlatNet(copy.deepcopy(module))
    _replicas[:] = [_Replica(net, algorithm, clients, local)]


def _train_in_process(state: Arrays, memory: Arrays, client: int, seed: int) -> Any:
    """Train one client in a worker process."""
    result = _replicas[0].train(_tensors(state), _tensors(memory), client, seed)
    return replace(result, state=_plain(result.state), memory=_plain(result.memory))


Arrays = Mapping[str, "np.ndarray[Any, Any]"]


def _plain(tensors: Mapping[str, torch.Tensor]) -> Any:
    # As arrays they travel in one message; torch would open a shared file for every tensor.
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def _tensors(arrays: Mapping[str, Any]) -> State:
    return {name: torch.as_tensor(array) for name, array in arrays.items()}
