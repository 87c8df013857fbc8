"""The grids of Table 1 and of the search before it. No torch.

A trial's parameters say everything its run depends on. The search of a cell (data set, algorithm,
alpha) runs all candidates at a seed of its own and is shared by the cell's seeds.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import RawParams
from harness.declare.params import Scalar
from reproductions.asymvalley.federated.candidates import (
    ALGORITHMS,
    CANDIDATES,
    PAPER_CANDIDATES,
)

Point = dict[str, Scalar]

ALPHAS = (10.0, 1.0, 0.5)
"""Table 1."""
SEARCH_SEED = 1000
"""No grid reports it."""
REPEATED = ("fedavg", "fedsign")
"""Only these two are repeated in the paper, five times; so they are in dear grids of ours."""

FEDREPO = {
    "lr": 0.03,
    "momentum": 0.9,
    "weight_decay": 1e-5,
    "clip_norm": 100.0,
    "min_steps": 5,
    "tau": 0.5,
    "reduction": "sum",
    "beta": 1.0,
}
"""What the paper leaves open, as in the authors' public code (lxcnju/FedRepo), where it has it."""
COLOUR = {"dataset": "cifar10", "channels": 3, "image_size": 32}
STAGED_COLOUR = COLOUR | {"data": "cifar10_10k_5k", "num_train": 9000, "num_validation": 1000}
MNIST = {
    "dataset": "cinic10",
    "data": "mnist",
    "channels": 1,
    "image_size": 28,
    "pool": 2,
    "num_train": 4000,
    "num_validation": 2000,
}
"""Stands in for CINIC-10."""
SMALL = {"device": "cpu", "net": "convnet", "num_clients": 20, "participation": 0.25}

CPU_COLOUR = (
    SMALL
    | STAGED_COLOUR
    | {"width": 16, "pool": 2, "rounds": 25, "local_epochs": 2, "batch_size": 32, "eval_every": 5}
)
CPU_GREY = (
    SMALL | MNIST | {"width": 8, "rounds": 25, "local_epochs": 2, "batch_size": 32, "eval_every": 5}
)
GPU_COLOUR = CPU_COLOUR | {"device": "cuda", "width": 32, "pool": 1, "rounds": 15}
SMOKE_DIGITS = SMALL | {
    "dataset": "cinic10",
    "data": "digits",
    "channels": 1,
    "image_size": 8,
    "pool": 1,
    "num_train": 240,
    "num_validation": 100,
    "num_clients": 4,
    "participation": 0.5,
    "width": 4,
    "rounds": 2,
    "local_epochs": 1,
    "batch_size": 32,
    "eval_every": 1,
}
PAPER = {
    "device": "cuda",
    "net": "resnet20",
    "width": 16,
    "channels": 3,
    "image_size": 32,
    "pool": 1,
    "num_clients": 100,
    "participation": 0.1,
    "rounds": 200,
    "local_epochs": 5,
    "batch_size": 64,
    "eval_every": 20,
    "num_validation": 5000,
}
PAPER_SETS: tuple[Point, ...] = (
    {"dataset": "cifar10", "data": "cifar10", "num_train": 45000},
    {"dataset": "cinic10", "data": "cinic10", "num_train": 85000},
)


def smoke_grid() -> Iterator[RawParams]:
    """Yield every algorithm at one alpha on digits: the path, not a result."""
    candidates = {name: " ".join(words.split()[:2]) for name, words in CANDIDATES.items()}
    yield from _cells(SMOKE_DIGITS, (1.0,), candidates, repeats=1, others=1)


def cpu_grid() -> Iterator[RawParams]:
    """Yield all cells on MNIST with five seeds; on CIFAR-10 five of FedAvg and FedSign, else one.

    FedSign tries 1e-4 in place of the paper's 0.1, which destroys nets of this size.
    """
    yield from _cells(CPU_COLOUR, ALPHAS, CANDIDATES, repeats=5, others=1)
    yield from _cells(CPU_GREY, ALPHAS, CANDIDATES, repeats=5, others=5)


def gpu_grid() -> Iterator[RawParams]:
    """Yield CIFAR-10 at full resolution with a net of twice the width, three seeds of two."""
    yield from _cells(GPU_COLOUR, ALPHAS, CANDIDATES, repeats=3, others=1)


def paper_grid() -> Iterator[RawParams]:
    """Yield the paper's own setting, every algorithm with five seeds."""
    for data in PAPER_SETS:
        yield from _cells(PAPER | data, ALPHAS, PAPER_CANDIDATES, repeats=5, others=5)


def search_of(params: RawParams) -> RawParams:
    """Return the search that chose the coefficient of a trial."""
    return {name: value for name, value in params.items() if name not in ("seed", "eval_every")} | {
        "seed": SEARCH_SEED
    }


def searches_of(grid: Iterator[RawParams]) -> Iterator[RawParams]:
    """Yield the searches of a grid, each once."""
    seen = []
    for params in grid:
        search = search_of(params)
        if search not in seen:
            seen.append(search)
            yield search


def _cells(
    shape: Point,
    alphas: tuple[float, ...],
    candidates: dict[str, str],
    *,
    repeats: int,
    others: int,
) -> Iterator[Point]:
    for alpha in alphas:
        for algorithm in ALGORITHMS:
            cell = {"algorithm": algorithm, "alpha": alpha, "candidates": candidates[algorithm]}
            for seed in range(repeats if algorithm in REPEATED else others):
                yield {**cell, "seed": seed, **FEDREPO, **shape}
