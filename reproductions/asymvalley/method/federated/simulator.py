"""Rounds of federated learning inside one process.

Clients' data stay where they are, a worker trains in one net that it owns, and no model is copied
within a local training. Every client's round has a seed of its own, drawn before the first round,
and the server adds in the order of clients. So the bits of a run do not depend on the number of
workers, unless the net has dropout, which draws from torch's generator. They may depend on the
number of torch threads, which split sums: all workers have that of the caller, and runs compare
under one number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from reproductions.asymvalley.method.federated.algorithms import FedAvg, Memory, Server
from reproductions.asymvalley.method.federated.client import ClientData, ClientResult, RoundSettings
from reproductions.asymvalley.method.federated.flat import FlatNet, State
from reproductions.asymvalley.method.federated.workers import Kind, check_workers, client_pool

_TEST_BATCH = 500
_DIVERGED = "a parameter, a buffer or a loss is not finite after round {}"


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundLog:
    """What is known after a round; means are over the round's clients."""

    round: int
    """From 1."""
    same_sign_ratio: float
    extra_loss: float
    accuracy: float | None
    """The global model's on the test set; None in rounds that are not evaluated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A finished simulation."""

    server: Server
    logs: tuple[RoundLog, ...]
    diverged: str
    """In which round a global parameter or buffer, or a method's loss, was not finite; or empty."""


def simulate(
    make_net: Callable[[], nn.Module],
    algorithm: FedAvg,
    clients: Sequence[ClientData],
    settings: RoundSettings,
    *,
    test: ClientData,
    eval_rounds: Sequence[int],
    seed: int,
    workers: int = 1,
    kind: Kind = "threads",
    progress: Callable[[RoundLog], None] | None = None,
) -> Run:
    """Run all rounds, and evaluate the global model after those of `eval_rounds`.

    make_net: returns a new net at every call, with the same initial values; one call per thread.
    seed: of the choice of clients and of their order of samples.
    workers, kind: threads or processes that train clients of one round side by side; no influence
    on any bit without dropout. With processes a script needs the usual guard of its main part.
    progress: called after each round with what is known of it.
    Raises SpecError for no worker or client, processes on a GPU, or nets that share weights.
    """
    check_workers(workers, clients)
    nets = [_flat(make_net(), algorithm) for _ in range(workers if kind == "threads" else 1)]
    start = nets[0].state()
    server = Server(state=start)
    memories, logs = dict[int, Memory](), list[RoundLog]()
    pool = client_pool(nets, algorithm, clients, settings.local, workers=workers, kind=kind)
    with pool as train_all:
        for number, chosen in enumerate(sampled_clients(len(clients), settings, seed), start=1):
            results = train_all(server.state, memories, chosen)
            memories |= {k: result.memory for k, result in results.items()}
            server = _aggregated(algorithm, server, results, len(clients), nets[0].names)
            if not _finite(server.state, start, results.values()):
                return Run(server=server, logs=tuple(logs), diverged=_DIVERGED.format(number))
            accuracy = accuracy_of(nets[0], server.state, test) if number in eval_rounds else None
            logs.append(_log(number, list(results.values()), accuracy))
            if progress is not None:
                progress(logs[-1])
    return Run(server=server, logs=tuple(logs), diverged="")


def sampled_clients(
    num_clients: int, settings: RoundSettings, seed: int
) -> Iterator[dict[int, int]]:
    """Yield each round's clients, ascending, with the seed of their local training.

    max(Q K, 1) of them without replacement. Source: paper Algorithm 1.
    """
    generator = torch.Generator().manual_seed(seed)
    count = max(int(settings.participation * num_clients), 1)
    for _ in range(settings.rounds):
        chosen = sorted(torch.randperm(num_clients, generator=generator)[:count].tolist())
        seeds = torch.randint(2**62, (num_clients,), generator=generator).tolist()
        yield {client: seeds[client] for client in chosen}


def accuracy_of(net: FlatNet, state: State, data: ClientData) -> float:
    """Return the share of samples that a state classifies rightly in eval mode.

    Logits that are not finite count as wrong: the largest of them would be the first class.
    """
    net.load(state)
    net.module.eval()
    images, labels = (torch.split(x, _TEST_BATCH) for x in (data.images_SCHW, data.labels_S))
    with torch.no_grad():
        found = [(net.module(x), y) for x, y in zip(images, labels, strict=True)]
        right = [((logits.argmax(1) == y) & logits.isfinite().all(1)).sum() for logits, y in found]
    return int(torch.stack(right).sum()) / len(data.labels_S)


def _flat(module: nn.Module, algorithm: FedAvg) -> FlatNet:
    algorithm.prepare(module)
    return FlatNet(module)


def _aggregated(
    algorithm: FedAvg,
    server: Server,
    results: Mapping[int, ClientResult],
    num_clients: int,
    learnable: Sequence[str],
) -> Server:
    states = [result.state for result in results.values()]
    return algorithm.aggregate(server, states, num_clients=num_clients, learnable=learnable)


def _finite(state: State, start: State, results: Iterable[ClientResult]) -> bool:
    # Clipping can keep parameters finite where a loss, or a batch norm's statistics, overflowed.
    losses = (result.extra_loss for result in results)
    # What is infinite from the start, as a mask of attention is, stays what it is.
    finite = all(
        bool((value.isfinite() | (value == start[name])).all()) for name, value in state.items()
    )
    return finite and all(math.isfinite(loss) for loss in losses)


def _log(number: int, results: Sequence[ClientResult], accuracy: float | None) -> RoundLog:
    return RoundLog(
        round=number,
        same_sign_ratio=sum(result.same_sign_ratio for result in results) / len(results),
        extra_loss=sum(result.extra_loss for result in results) / len(results),
        accuracy=accuracy,
    )


def stack_images(images_SHWC: Tensor, labels_S: Tensor, *, device: str) -> ClientData:
    """Return a resident data set: images float32 with channels last in memory, labels int64."""
    return ClientData(
        images_SHWC.to(device, torch.float32).contiguous(), labels_S.to(device, torch.int64)
    )
