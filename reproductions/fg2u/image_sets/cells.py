"""The cells of Table 1 at every scale: what is condensed, and by how many steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from harness.declare import Profile

Dataset = Literal["mnist", "cifar10", "cifar100"]
Method = Literal["noise", "real", "whole", "hessian-free", "neumann", "trgu", "fg2u", "rgu"]
ALL_CELLS: tuple[tuple[Dataset, int], ...] = tuple(
    (dataset, ipc) for dataset in ("mnist", "cifar10", "cifar100") for ipc in (1, 10, 50)
)
"""Table 1's, in its order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What all trials of a cell share."""

    dataset: Dataset
    data: str
    image_size: int
    ipc: int
    width: int
    num_blocks: int = 3
    device: Literal["cpu", "cuda"] = "cpu"
    at_once: int = 32
    depth: int
    inner_batch: int = 0
    inner_lr: float = 0.01
    accumulate: int = 1
    batch_size: int = 512
    num_nets: int = 10
    test_steps: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """How one net is trained on the whole set."""

    steps: int
    """0 where it is not."""
    batch_size: int = 128
    lr: float = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A cell of Table 1."""

    setting: Setting
    steps: int
    """Outer steps from noise."""
    lr: float
    second_steps: int = 0
    """Outer steps of every method after the first phase; 0 where there is one phase alone."""
    second_lr: float = 0.0
    whole: Whole


DIGITS = Setting(
    dataset="mnist", data="digits", image_size=8, ipc=1, width=4, num_blocks=2, depth=3,
    batch_size=64, num_nets=2, test_steps=5,
)  # fmt: skip
MNIST = Setting(
    dataset="mnist",
    data="mnist",
    image_size=14,
    ipc=1,
    width=8,
    num_blocks=2,
    depth=20,
    inner_lr=0.05,
    test_steps=100,
)
"""Two halvings of 14 leave maps of 3 x 3, as three of 28 do; depth times step size
are those of the paper and its code."""
CIFAR = replace(MNIST, dataset="cifar10", data="cifar10_10k_5k", image_size=16, width=16)
FULL_CIFAR = replace(CIFAR, image_size=32, width=128, num_blocks=3, device="cuda")
SMOKE = (
    Cell(setting=DIGITS, steps=2, lr=0.01, whole=Whole(steps=0)),
    Cell(
        setting=replace(DIGITS, ipc=2), steps=2, lr=0.01, second_steps=2, second_lr=0.005,
        whole=Whole(steps=0),
    ),
)  # fmt: skip
CPU = (
    Cell(setting=MNIST, steps=200, lr=0.05, whole=Whole(steps=1400)),
    Cell(
        setting=replace(MNIST, ipc=10, at_once=8), steps=300, lr=0.05,
        second_steps=20, second_lr=0.02, whole=Whole(steps=0),
    ),
    Cell(setting=CIFAR, steps=120, lr=0.05, whole=Whole(steps=800)),
)  # fmt: skip
GPU = (Cell(setting=FULL_CIFAR, steps=60, lr=0.05, whole=Whole(steps=800)),)


def cells_of(profile: Profile) -> tuple[Cell, ...]:
    """Return the cells of a profile."""
    match profile:
        case "smoke":
            return SMOKE
        case "cpu":
            return CPU
        case "gpu":
            return GPU
        case "paper":
            return tuple(paper_cell(dataset, ipc) for dataset, ipc in ALL_CELLS)


ACCUMULATED = {
    ("mnist", 1): 16, ("mnist", 10): 32, ("mnist", 50): 32,
    ("cifar10", 1): 32, ("cifar10", 10): 32, ("cifar10", 50): 32,
    ("cifar100", 1): 64, ("cifar100", 10): 64, ("cifar100", 50): 64,
}  # fmt: skip
"""Table F.1: batches whose mean gradient is an outer step's."""


def paper_cell(dataset: Dataset, ipc: int) -> Cell:
    """Return a cell as Table F.1 has it, and what is not printed as the released code has it."""
    largest = (dataset, ipc) == ("cifar100", 50)
    setting = Setting(
        dataset=dataset,
        data=dataset,
        image_size=28 if dataset == "mnist" else 32,
        ipc=ipc,
        width=128,
        device="cuda",
        at_once=32 if ipc == 1 or largest else 4,
        depth=200 if largest else 100,
        inner_batch=100 if largest else 0,
        accumulate=ACCUMULATED[dataset, ipc],
        test_steps=1000 if ipc == 1 else 10000,
    )
    second = {"second_steps": 10000, "second_lr": 5e-4} if ipc > 1 else {}
    return Cell(setting=setting, steps=10000, lr=1e-2, whole=Whole(steps=20000), **second)
